/** Texts of the field for a password that is chosen now. */
export const newPassword = {
  hint: 'At least 10 characters. Length counts, not signs: a few unusual words are good.',
  missing: (count: number) => (count === 1 ? '1 more character' : `${count} more characters`),
  enough: 'Long enough',
  good: 'Strong by its length',
} as const;

/** Texts of the page Create an account. */
export const signUp = {
  title: 'Create an account',
  email: 'E-mail address',
  password: 'Password',
  code: 'Promotion code',
  action: 'Create account',
  hasAccount: 'You have an account?',
  signIn: 'Sign in',
  closed: { title: 'Accounts are not made here by everybody.', text: 'Ask the operator of this service for one.' },
  invite: { title: 'You need an invitation.', text: 'Open the link that the operator of this service gave you.' },
  invited: 'You are invited.',
  used: { title: 'This invitation was used already.', text: 'If it was you, sign in.' },
  expired: { title: 'This invitation is too old.', text: 'Ask the operator for a new one.' },
  redeemed: 'Your code is redeemed.',
  notRedeemed: 'Your code was not taken.',
} as const;
