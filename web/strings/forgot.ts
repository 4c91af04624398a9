/** Texts of the page Forgotten password. */
export const forgot = {
  title: 'Forgotten password',
  text: 'Tell us your address, and we send you a link with which you set a new password.',
  email: 'E-mail address',
  action: 'Send the link',
  sent: (email: string) => `If ${email} has an account, a letter is on its way. The link in it works once, within an hour.`,
  noMail: 'Mail is not configured here. The operator finds the link in the output of the server.',
  back: 'Back to sign-in',
} as const;
