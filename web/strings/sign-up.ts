/** Texts of the page Create an account. */
export const signUp = {
  title: 'Create an account',
  empty: { title: 'Accounts cannot be made here yet.' },
} as const;
