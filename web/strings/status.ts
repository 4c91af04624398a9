/** Texts of the page Status. */
export const status = {
  title: 'Status',
  text: 'The health of the gate and its providers, from real traffic.',
  empty: { title: 'Nothing has been measured yet.', text: 'Figures appear with the first requests.' },
} as const;
