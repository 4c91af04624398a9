/** Texts of the page Sign in. */
export const signIn = {
  title: 'Sign in',
  empty: { title: 'Signing in is not possible yet.' },
} as const;
