/** Texts of the page Second factor. */
export const twoFactor = {
  title: 'Second factor',
  empty: { title: 'No sign-in is waiting for a second factor.' },
} as const;
