/** An email to one person, as plain text and as simple HTML. */
export interface Email {
  readonly to: string;
  readonly subject: string;
  /** Printed for the operator where emails cannot be sent. */
  readonly link: string | undefined;
  readonly text: string;
  readonly html: string;
}

interface Content {
  readonly to: string;
  readonly subject: string;
  readonly lines: readonly string[];
  readonly link?: string;
  readonly action?: string;
  /** What to do if the recipient did not cause this email. */
  readonly otherwise?: string;
}

/** Asks the owner of an address to confirm a sign-up with it. */
export function verificationEmail(to: string, link: string): Email {
  return write({
    to,
    subject: 'Verify your email address',
    lines: ['Someone signed up for Tollgate with this email address. If it was you, open the link within an hour.'],
    link,
    action: 'Verify my address',
    otherwise: 'If it was not you, ignore this email: nobody can sign in without the link.',
  });
}

/** Tells the owner of an address that someone tried to sign up with it, although it has an account. */
export function existingAccountEmail(to: string, link: string): Email {
  return write({
    to,
    subject: 'You already have an account',
    lines: ['Someone tried to sign up for Tollgate with this email address, but it already has an account.'],
    link,
    action: 'Sign in, or set a new password',
    otherwise: 'If it was not you, ignore this email: nothing has changed.',
  });
}

/** Carries the link to set a new password. */
export function resetEmail(to: string, link: string): Email {
  return write({
    to,
    subject: 'Set a new password',
    lines: ['Someone asked to reset the password of your Tollgate account. The link works once, within the next hour.'],
    link,
    action: 'Set a new password',
    otherwise: 'If it was not you, ignore this email: your password stays the same.',
  });
}

/** Reports a change to how someone signs in, in case they did not make it. `change` is a sentence such as `A passkey was added`. */
export function signInChangedEmail(to: string, change: string, link: string): Email {
  return write({
    to,
    subject: change,
    lines: [`${change}. This email is about your Tollgate account.`],
    link,
    action: 'Open your settings',
    otherwise: 'If it was not you, set a new password at once.',
  });
}

/** Confirms the first proof of an address, by a new password, and says what it has ended. */
export function accessRemovedEmail(to: string, link: string): Email {
  return write({
    to,
    subject: 'Your password was changed',
    lines: [
      'Your password was changed, and this email address is now verified. This email is about your Tollgate account.',
      'Somebody else may have used the account before. So other ways to sign in and the webhook were removed, and all API keys were disabled. Enable only keys that you created yourself, and delete the others.',
    ],
    link,
    action: 'Open your settings',
    otherwise: 'If it was not you, set a new password at once.',
  });
}

/**
 * Tells the old address of an account about the new one. Its recipient cannot reset the password, because the link would go to the new
 * address: only the operator can help.
 */
export function addressChangedEmail(to: string, newAddress: string): Email {
  return write({
    to,
    subject: 'Your email address was changed',
    lines: [`The email address of your Tollgate account is now ${newAddress}.`],
    otherwise: 'If it was not you, contact the operator of the service at once.',
  });
}

/** Confirms that an account was deleted. */
export function accountClosedEmail(to: string): Email {
  return write({
    to,
    subject: 'Your account was deleted',
    lines: ['Your Tollgate account was deleted. Its API keys have stopped working, and nothing that identifies you is kept.'],
    otherwise: 'If it was not you, contact the operator of the service at once.',
  });
}

/** Carries an alert. */
export function alertEmail(to: string, { title, text }: { readonly title: string; readonly text: string }, link: string): Email {
  return write({ to, subject: title, lines: [`${title}.`, text], link, action: 'Open your alerts' });
}

/** Shows an operator that emails arrive. */
export function testEmail(to: string, link: string): Email {
  return write({ to, subject: 'Test email from Tollgate', lines: ['This test email arrived: your Tollgate can send emails.'], link });
}

/** An export job that has ended. */
interface EndedExport {
  readonly state: string;
  readonly format: string;
  readonly rowCount: number;
  readonly problem: string | undefined;
  readonly expiresAtMs: number | undefined;
}

/** Reports that an export is ready, or why it failed. */
export function exportEmail(to: string, { state, format, rowCount, problem, expiresAtMs }: EndedExport, link: string): Email {
  if (state !== 'done') return write({ to, subject: 'Your export failed', lines: [problem ?? ''], link, action: 'Open your requests' });
  const until = new Date(expiresAtMs ?? 0).toISOString().replace('T', ' ').slice(0, 16);
  const size = rowCount === 1 ? '1 request' : `${rowCount.toLocaleString('en')} requests`;
  return write({
    to,
    subject: 'Your export is ready',
    lines: [`Your export of ${size} is ready (${format.toUpperCase()}, compressed). You can download it until ${until} UTC.`],
    link,
    action: 'Download the file',
  });
}

function write({ to, subject, lines, link, action, otherwise }: Content): Email {
  const after = otherwise === undefined ? [] : [otherwise];
  const paragraphs = [...lines, ...(link === undefined ? [] : [link]), ...after];
  const shown = [
    ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
    ...(link === undefined ? [] : [`<p><a href="${escapeHtml(link)}">${escapeHtml(action ?? link)}</a></p><p>${escapeHtml(link)}</p>`]),
    ...after.map((line) => `<p>${escapeHtml(line)}</p>`),
  ];
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeHtml(subject)}</title><body>${shown.join('')}</body></html>`;
  return { to, subject, link, text: `${paragraphs.join('\n\n')}\n`, html };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`);
}
