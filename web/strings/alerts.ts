/** Texts of the page Alerts. */
export const alerts = {
  title: 'Alerts',
  text: 'Messages before something runs out.',
  empty: { title: 'No alerts yet.', text: 'An alert fires once each time its line is crossed.' },
} as const;
