/** Texts of the page Settings. */
export const settings = {
  title: 'Settings',
  text: 'Your profile, your sign-in and your data.',
  empty: { title: 'Nothing to set yet.' },
} as const;
