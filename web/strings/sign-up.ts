/** Texts of the field for choosing a new password. */
export const newPassword = {
  hint: 'At least 10 characters. Length counts more than symbols: try a few unusual words.',
  missing: (count: number) => (count === 1 ? '1 more character' : `${count} more characters`),
  tooMany: (count: number) => (count === 1 ? '1 character too many' : `${count} characters too many`),
  verdicts: {
    short: 'Too short',
    long: 'Too long',
    easy: 'Easy to guess: common words, a pattern or your address',
    enough: 'Long enough',
    good: 'Good length',
  },
} as const;

/** Texts of the page Create an account. */
export const signUp = {
  title: 'Create an account',
  email: 'Email address',
  password: 'Password',
  credit: (amount: string) => `New accounts get ${amount} of credit`,
  creditText: 'Once per person, as soon as the email address is verified.',
  code: 'Promo code',
  action: 'Create account',
  hasAccount: 'Already have an account?',
  signIn: 'Sign in',
  closed: { title: 'Sign-up is closed', text: 'Ask the operator of this service for an account.' },
  invite: { title: 'You need an invitation to sign up', text: 'Open the invitation link that the operator of this service gave you.' },
  invited: 'You have been invited.',
  used: { title: 'This invitation has already been used', text: 'If you used it, sign in.' },
  expired: { title: 'This invitation has expired', text: 'Ask the operator for a new one.' },
  redeemed: 'Promo code redeemed',
  notRedeemed: 'Promo code not accepted',
} as const;
