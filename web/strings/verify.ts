/** Texts of the page Verify your address. */
export const verify = {
  title: 'Verify your address',
  empty: { title: 'There is nothing to verify.' },
} as const;
