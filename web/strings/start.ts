/** Texts of the page Get started. */
export const start = {
  title: 'Get started',
  text: 'From here to the first answer of a model.',
  empty: { title: 'Nothing to do yet.', text: 'Steps appear when your account is ready.' },
} as const;
