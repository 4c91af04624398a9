/** Texts of the page Sign in. */
export const signIn = {
  title: 'Sign in',
  email: 'E-mail address',
  password: 'Password',
  action: 'Sign in',
  passkey: 'Sign in with a passkey',
  forgot: 'Forgotten your password?',
  noAccount: 'No account yet?',
  signUp: 'Create one',
  refused: 'You are not signed in.',
  unverified: { title: 'Your address is not verified yet.', action: 'Send the link again' },
} as const;
