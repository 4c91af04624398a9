/** Texts of the page Choose a new password. */
export const reset = {
  title: 'Choose a new password',
  text: 'All your sessions end with it.',
  password: 'New password',
  action: 'Set password',
  missing: { title: 'This link cannot be used.', text: 'Ask for a new one.' },
  done: 'Your password is set. Sign in with it.',
  signIn: 'Sign in',
  again: 'Ask for a new link',
} as const;
