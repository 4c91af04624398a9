import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A real mail server that keeps what it is handed. */
export interface Mailbox {
  readonly url: string;
  /** Every letter so far, as it came over the wire. */
  readonly letters: readonly string[];
  /** The next letter to an address that was not read yet. */
  next(to: string): Promise<string>;
  /** The link in the next letter to an address. */
  nextLink(to: string): Promise<string>;
  close(): Promise<void>;
}

const WAIT_MS = 10_000;
const POLL_MS = 20;

export async function openMailbox(): Promise<Mailbox> {
  const letters: string[] = [];
  const read = new Set<string>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, _session, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        letters.push(Buffer.concat(pieces).toString('utf8'));
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const next = async (to: string): Promise<string> => {
    const untilMs = Date.now() + WAIT_MS;
    while (Date.now() < untilMs) {
      const letter = letters.find((text) => !read.has(text) && text.includes(`To: ${to}`));
      if (letter !== undefined) {
        read.add(letter);
        return decodeBody(letter);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`No letter to ${to} came. There are ${letters.length}.`);
  };
  return {
    url: `smtp://127.0.0.1:${port}`,
    letters,
    next,
    nextLink: async (to) => {
      const letter = await next(to);
      const link = /https?:\/\/[^\s"<]+/u.exec(letter)?.[0];
      if (link === undefined) throw new Error(`There is no link in the letter:\n${letter}`);
      return link;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Long lines are folded on their way. */
function decodeBody(letter: string): string {
  return letter.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
