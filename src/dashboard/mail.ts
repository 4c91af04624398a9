import { createTransport } from 'nodemailer';
import type { Letter } from './mail-letters.ts';
import type { DashboardSettings } from './messages.ts';
import type { Parts } from './parts.ts';

/** Sends letters. Nobody waits for one: how long it takes would tell whether there is anybody to write to. */
export interface Mail {
  /** False where letters are printed for the operator instead. */
  readonly isConfigured: boolean;
  send(letter: Letter): void;
  /** Sends a letter once, for whoever keeps account of what was delivered; rejects when it was not. Gives what the mail server answered. */
  deliver(letter: Letter): Promise<string>;
  /** Waits, for a moment, until what is on its way is delivered. */
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
const ANSWER_MS = 20_000;
const CONNECTIONS_MAX = 2;
const TRIES_MAX = 3;
const RETRY_MS = 2000;
/** Letters on their way; more than that are not taken, because a mail server that is away must not fill the memory. */
const WAITING_MAX = 500;
const CLOSE_MS = 3000;

type Told = Pick<Parts, 'fail' | 'notice'>;

/** Opens the way to the mail server, or to the operator's screen where there is none. */
export function openMail({ smtpUrl, mailFrom }: Pick<DashboardSettings, 'smtpUrl' | 'mailFrom'>, { fail, notice }: Told): Mail {
  if (smtpUrl === undefined) {
    const print = (letter: Letter): void => notice(toNotice(letter));
    return {
      isConfigured: false,
      send: print,
      deliver: async (letter) => {
        print(letter);
        return '';
      },
      close: async () => undefined,
    };
  }
  const transport = createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const underWay = new Set<Promise<void>>();
  const sendOnce = async ({ to, subject, text, html }: Letter): Promise<string> => {
    const { response } = await transport.sendMail({ from: mailFrom, to: { name: '', address: to }, subject, text, html });
    return response;
  };
  const deliver = async (letter: Letter): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await sendOnce(letter);
        return;
      } catch (error) {
        if (tries === TRIES_MAX) return fail('a letter could not be sent', error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * tries));
      }
    }
  };
  return {
    isConfigured: true,
    deliver: sendOnce,
    send: (letter) => {
      if (underWay.size >= WAITING_MAX) return fail('a letter was not sent', new Error('Too many letters wait for the mail server.'));
      const delivery = deliver(letter).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    close: async () => {
      await Promise.race([Promise.allSettled(underWay), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      transport.close();
    },
  };
}

function toNotice({ to, subject, link }: Letter): string {
  return `Mail is not configured (SMTP_URL). To ${to}: ${subject}${link === undefined ? '' : `\n  ${link}`}`;
}
