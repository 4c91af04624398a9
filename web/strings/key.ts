/** Texts of the page API key. */
export const key = {
  title: 'API key',
  empty: { title: 'This key does not exist.' },
} as const;
