import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A real mail server that keeps the emails it receives. */
export interface Mailbox {
  readonly url: string;
  /** Every email so far, as received. */
  readonly letters: readonly string[];
  /** Waits for the next unread email to an address. */
  next(to: string): Promise<string>;
  /** Waits for the next unread email to an address and returns its link. */
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
    throw new Error(`No email to ${to} arrived. There are ${letters.length} in total.`);
  };
  return {
    url: `smtp://127.0.0.1:${port}`,
    letters,
    next,
    nextLink: async (to) => {
      const letter = await next(to);
      const link = /https?:\/\/[^\s"<]+/u.exec(letter)?.[0];
      if (link === undefined) throw new Error(`There is no link in the email:\n${letter}`);
      return link;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Decodes quoted-printable text, in which long lines are folded. */
function decodeBody(letter: string): string {
  return letter.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
