import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** A real mail server that keeps the emails it receives. */
export interface Mailbox {
  readonly url: string;
  /** Every email so far, as received. */
  readonly emails: readonly string[];
  /** Waits for the next unread email to an address. */
  next(to: string): Promise<string>;
  /** Waits for the next unread email to an address and returns its link. */
  nextLink(to: string): Promise<string>;
  close(): Promise<void>;
}

const WAIT_MS = 10_000;
const POLL_MS = 20;

/** Opens a mailbox. Each email is accepted only once `accept`, given its text, has resolved. */
export async function openMailbox(accept: (email: string) => Promise<void> = async () => undefined): Promise<Mailbox> {
  const emails: string[] = [];
  const read = new Set<string>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, _session, done) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () => {
        const email = Buffer.concat(pieces).toString('utf8');
        const receive = async (): Promise<void> => {
          await accept(email);
          emails.push(email);
          done();
        };
        void receive();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const next = async (to: string): Promise<string> => {
    const untilMs = Date.now() + WAIT_MS;
    while (Date.now() < untilMs) {
      const email = emails.find((text) => !read.has(text) && text.includes(`To: ${to}`));
      if (email !== undefined) {
        read.add(email);
        return decodeBody(email);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`No email to ${to} arrived. There are ${emails.length} in total.`);
  };
  return {
    url: `smtp://127.0.0.1:${port}`,
    emails,
    next,
    nextLink: async (to) => {
      const email = await next(to);
      const link = /https?:\/\/[^\s"<]+/u.exec(email)?.[0];
      if (link === undefined) throw new Error(`There is no link in the email:\n${email}`);
      return link;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Decodes quoted-printable text, in which long lines are folded. */
function decodeBody(email: string): string {
  return email.replaceAll('=\r\n', '').replaceAll(/=([0-9A-F]{2})/gu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
