/** Texts of forms. */
export const form = {
  optional: '(optional)',
  failed: 'This did not work. Try again.',
  noAmount: (example: string) => `This is no amount. Write it like ${example}.`,
} as const;

/** What is said where nobody else says anything: no answer came, or one without words. */
export const faults = {
  unreachable: 'The server could not be reached. Check the connection and try again.',
  brokenOff: 'The connection broke before the answer was complete. Try again.',
  signedOut: 'You are no longer signed in. Sign in in another tab, then try again here: what you typed stays.',
  status: (status: number) => `The server answered with status ${status}.`,
  noPasskey: 'The browser gave no passkey. Try again.',
} as const;
