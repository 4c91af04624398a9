/** Texts of the page API reference. */
export const docs = {
  title: 'API reference',
  text: 'Every address of the API, what it takes and what it answers.',
  empty: { title: 'The reference is not available.', text: 'The description of the API could not be found.' },
} as const;
