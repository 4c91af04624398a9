/** Texts of the page Billing. */
export const billing = {
  title: 'Billing',
  text: 'Your balance, where it came from and where it went.',
  empty: { title: 'No movements yet.', text: 'Every movement of money stands here.' },
} as const;
