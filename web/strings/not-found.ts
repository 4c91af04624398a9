/** Texts of the page for addresses that lead nowhere. */
export const notFound = {
  title: 'There is nothing here',
  text: 'The address may be mistyped, or what was here is gone.',
  home: 'Go to the start',
} as const;
