/** Texts of the page Overview. */
export const overview = {
  title: 'Overview',
  text: 'Balance, spend and health at a glance.',
  empty: { title: 'Nothing to show yet.', text: 'Figures appear with your first request.' },
} as const;
