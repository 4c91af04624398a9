/** Texts of the page Choose a new password. */
export const reset = {
  title: 'Choose a new password',
  text: 'This signs you out on every device.',
  password: 'New password',
  action: 'Set password',
  missing: { title: 'This link is not valid', text: 'Request a new one.' },
  done: 'Password set. Sign in with it.',
  signIn: 'Sign in',
  again: 'Request a new link',
} as const;
