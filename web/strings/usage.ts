/** Texts of the page Usage. */
export const usage = {
  title: 'Usage',
  text: 'What was used, by model, key and time.',
  empty: { title: 'Nothing was used in this range.', text: 'Usage appears with your first request.' },
} as const;
