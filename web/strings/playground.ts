/** Texts of the page Playground. */
export const playground = {
  title: 'Playground',
  text: 'Try any model, see what it costs, and take the code along.',
  empty: { title: 'No models to try.', text: 'Models appear when the gate offers some.' },
} as const;
