/** Texts of forms. */
export const form = {
  optional: '(optional)',
  failed: 'Something went wrong. Try again.',
  countRange: (least: string, most: string) => `Enter a whole number from ${least} to ${most}.`,
  amountRange: (least: string, most: string) => `Enter an amount from ${least} to ${most}.`,
  noAmount: (example: string) => `Enter an amount like ${example}.`,
} as const;

/** Messages for failures without a message from the server: no response came, or one without a text. */
export const faults = {
  unreachable: 'Could not reach the server. Check your connection and try again.',
  brokenOff: 'The connection was lost before the answer was complete. Try again.',
  signedOut: 'You have been signed out. Sign in in another tab, then try again here. Your input is kept.',
  status: (status: number) => `The server responded with status ${status}. Try again in a moment.`,
  noPasskey: 'The browser returned no passkey. Try again.',
} as const;
