/** Texts of the page Models and prices. */
export const models = {
  title: 'Models and prices',
  text: 'Every model behind this gate, what it costs, and how it has done in the last 24 hours.',
  empty: { title: 'No models are listed yet.', text: 'The list comes from the catalogue of this gate.' },
} as const;
