/** Texts of the page API keys. */
export const keys = {
  title: 'API keys',
  text: 'Secrets with which programs call models, each with limits of its own.',
  empty: { title: 'No keys yet.', text: 'A key lets a program call models on your account.' },
} as const;
