import { createTransport } from 'nodemailer';
import type { Email } from './emails.ts';
import type { DashboardSettings, Reporting } from './messages.ts';

/** Sends emails. No response waits for one, because its timing would reveal whether an address has an account. */
export interface Mail {
  /** False if no mail server is configured: emails are printed for the operator instead. */
  readonly isConfigured: boolean;
  /** Sends an email in the background, with retries. */
  send(email: Email): void;
  /** Sends an email once, for callers that record deliveries. Resolves with the mail server's answer, rejects if it was not sent. */
  deliver(email: Email): Promise<string>;
  /** Waits briefly for emails that are being sent. */
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
const ANSWER_MS = 20_000;
/** To the mail server, for each of two queues. */
const CONNECTIONS_MAX = 2;
const TRIES_MAX = 3;
const RETRY_MS = 2000;
/** Emails being sent at once. Any beyond this are dropped, so that an unreachable mail server cannot fill the memory. */
const PENDING_MAX = 500;
const CLOSE_MS = 3000;

/** Opens the connection to the mail server. Without one, emails are printed for the operator. */
export function openMail({ smtpUrl, mailFrom }: Pick<DashboardSettings, 'smtpUrl' | 'mailFrom'>, { fail, notice }: Reporting): Mail {
  if (smtpUrl === undefined) {
    const print = (email: Email): void => notice(toNotice(email));
    return {
      isConfigured: false,
      send: print,
      deliver: async (email) => {
        print(email);
        return '';
      },
      close: async () => undefined,
    };
  }
  const open = () =>
    createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: CONNECTIONS_MAX,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: ANSWER_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  // Somebody waits for most emails that are not recorded, such as a link for a new password: they have connections of their own.
  const [urgent, recorded] = [open(), open()];
  const pending = new Set<Promise<void>>();
  const sendOnce = async (transport: typeof urgent, { to, subject, text, html }: Email): Promise<string> => {
    const { response } = await transport.sendMail({ from: mailFrom, to: { name: '', address: to }, subject, text, html });
    return response;
  };
  const sendWithRetries = async (email: Email): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      try {
        await sendOnce(urgent, email);
        return;
      } catch (error) {
        if (tries === TRIES_MAX) return fail('an email could not be sent', error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS * tries));
      }
    }
  };
  return {
    isConfigured: true,
    deliver: (email) => sendOnce(recorded, email),
    send: (email) => {
      if (pending.size >= PENDING_MAX)
        return fail('an email was not sent, because too many are waiting', new Error('Too many emails are waiting for the mail server.'));
      const delivery = sendWithRetries(email).finally(() => pending.delete(delivery));
      pending.add(delivery);
    },
    close: async () => {
      await Promise.race([Promise.allSettled(pending), new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
      urgent.close();
      recorded.close();
    },
  };
}

function toNotice({ to, subject, link }: Email): string {
  return `Email is not configured (SMTP_URL is not set). To ${to}: ${subject}${link === undefined ? '' : `\n  ${link}`}`;
}
