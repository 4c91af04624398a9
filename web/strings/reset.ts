/** Texts of the page Choose a new password. */
export const reset = {
  title: 'Choose a new password',
  empty: { title: 'This link cannot be used.' },
} as const;
