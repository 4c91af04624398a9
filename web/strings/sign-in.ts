/** Texts of the page Sign in. */
export const signIn = {
  title: 'Sign in',
  email: 'Email address',
  password: 'Password',
  action: 'Sign in',
  passkey: 'Sign in with a passkey',
  forgot: 'Forgot your password?',
  noAccount: 'No account yet?',
  signUp: 'Create one',
  refused: 'Could not sign you in',
  unverified: { title: 'Your email address is not verified yet', action: 'Get a new link' },
} as const;
