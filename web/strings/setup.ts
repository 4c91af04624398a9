/** Texts of the page Set up this gate. */
export const setup = {
  title: 'Set up this gate',
  empty: { title: 'This gate cannot be set up here yet.' },
} as const;
