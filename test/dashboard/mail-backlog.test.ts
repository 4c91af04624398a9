import { expect, test } from 'bun:test';
import { openMail } from '../../src/dashboard/mail.ts';
import { openMailbox } from './mailbox.ts';

test('an email that somebody waits for is not behind alerts that a slow mail server does not accept', async () => {
  const slow = Promise.withResolvers<void>();
  const mailbox = await openMailbox((email) => (email.includes('Subject: Alert') ? slow.promise : Promise.resolve()));
  const failures: string[] = [];
  const settings = { smtpUrl: mailbox.url, mailFrom: 'gate@example.com' };
  const mail = openMail(settings, { fail: (event) => void failures.push(event), notice: () => undefined });
  const alerts = Array.from({ length: 20 }, (_, n) =>
    mail.deliver({ to: `user${n}@example.com`, subject: 'Alert', text: 'Alert', html: 'Alert', link: undefined }),
  );
  mail.send({ to: 'ada@example.com', subject: 'New password', text: 'A link', html: 'A link', link: undefined });
  expect(await mailbox.next('ada@example.com')).toContain('A link');
  expect(mailbox.emails).toHaveLength(1);
  slow.resolve();
  await Promise.all(alerts);
  await mail.close();
  await mailbox.close();
  expect(failures).toEqual([]);
}, 60_000);
