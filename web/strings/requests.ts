/** Texts of the page Requests. */
export const requests = {
  title: 'Requests',
  text: 'Every request, what it cost, and why.',
  empty: { title: 'No requests in this range.', text: 'Requests appear a moment after they were made.' },
} as const;
