/** A letter to one person, in plain text and in simple HTML. */
export interface Letter {
  readonly to: string;
  readonly subject: string;
  /** What the letter is for, to be printed where mail cannot be sent. */
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
  /** What to do if the reader knows nothing of this. */
  readonly otherwise?: string;
}

/** Asks whether an address is that of the person who signed up with it. */
export function verificationLetter(to: string, link: string): Letter {
  return write({
    to,
    subject: 'Verify your e-mail address',
    lines: ['Somebody signed up at Tollgate with this e-mail address. If it was you, follow the link within an hour.'],
    link,
    action: 'Verify the address',
    otherwise: 'If it was not you, do nothing: without the link nobody gets in.',
  });
}

/** Tells the owner of an address that somebody tried to sign up with it. */
export function existingLetter(to: string, link: string): Letter {
  return write({
    to,
    subject: 'You have an account already',
    lines: ['Somebody tried to sign up at Tollgate with this e-mail address, which has an account already.'],
    link,
    action: 'Sign in, or set a new password',
    otherwise: 'If it was not you, do nothing: nothing was changed.',
  });
}

/** Lets somebody who forgot it set a new password. */
export function resetLetter(to: string, link: string): Letter {
  return write({
    to,
    subject: 'Set a new password',
    lines: ['Somebody asked for a new password for your account at Tollgate. The link works once, within an hour.'],
    link,
    action: 'Set a new password',
    otherwise: 'If it was not you, do nothing: your password stays as it is.',
  });
}

/** Tells that something about the sign-in was changed, in case the reader did not do it: `A passkey was added`. */
export function changedLetter(to: string, what: string, link: string): Letter {
  return write({
    to,
    subject: what,
    lines: [`${what}: your account at Tollgate.`],
    link,
    action: 'See your settings',
    otherwise: 'If it was not you, set a new password at once.',
  });
}

/** Tells the old address of an account that there is a new one. A new password would be sent there, so only the operator can help. */
export function movedLetter(to: string, newAddress: string): Letter {
  return write({
    to,
    subject: 'Your e-mail address was changed',
    lines: [`The e-mail address of your account at Tollgate is ${newAddress} from now on.`],
    otherwise: 'If it was not you, tell the operator of the service at once.',
  });
}

/** Says good-bye. */
export function closedLetter(to: string): Letter {
  return write({
    to,
    subject: 'Your account was deleted',
    lines: ['Your account at Tollgate was deleted. Its keys no longer work, and nothing that names you is kept.'],
    otherwise: 'If it was not you, tell the operator of the service at once.',
  });
}

/** Tells what somebody asked to be told about. */
export function alertLetter(to: string, { title, text }: { readonly title: string; readonly text: string }, link: string): Letter {
  return write({ to, subject: title, lines: [`${title}.`, text], link, action: 'See your alerts' });
}

/** Shows an operator that letters arrive. */
export function testLetter(to: string, link: string): Letter {
  return write({ to, subject: 'A test of your mail', lines: ['This is how a letter of your Tollgate reaches people.'], link });
}

/** A file that was asked for, and what became of it. */
interface ExportEnd {
  readonly state: string;
  readonly format: string;
  readonly rowCount: number;
  readonly problem: string | undefined;
  readonly expiresAtMs: number | undefined;
}

/** Tells that a file of requests is ready, or why there is none. */
export function exportLetter(to: string, { state, format, rowCount, problem, expiresAtMs }: ExportEnd, link: string): Letter {
  if (state !== 'done')
    return write({ to, subject: 'Your export could not be made', lines: [problem ?? ''], link, action: 'See your requests' });
  const until = new Date(expiresAtMs ?? 0).toISOString().replace('T', ' ').slice(0, 16);
  const what = rowCount === 1 ? 'The file with 1 request' : `The file with ${rowCount.toLocaleString('en')} requests`;
  return write({
    to,
    subject: 'Your export is ready',
    lines: [`${what} that you asked for is ready (${format.toUpperCase()}, compressed). It is kept until ${until} UTC.`],
    link,
    action: 'Download it',
  });
}

function write({ to, subject, lines, link, action, otherwise }: Content): Letter {
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
