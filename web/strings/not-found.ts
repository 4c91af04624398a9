/** Texts of the page for unknown addresses. */
export const notFound = {
  title: 'Page not found',
  text: 'The address may be mistyped, or the page no longer exists.',
  home: 'Go to home page',
} as const;
