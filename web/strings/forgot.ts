/** Texts of the page Forgotten password. */
export const forgot = {
  title: 'Forgotten password',
  empty: { title: 'Passwords cannot be reset here yet.' },
} as const;
