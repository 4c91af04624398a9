/** Texts of the page Plans. */
export const plans = {
  title: 'Plans',
  text: 'Amounts that are included each month.',
  empty: { title: 'No plans are offered.', text: 'This gate is prepaid only.' },
} as const;
