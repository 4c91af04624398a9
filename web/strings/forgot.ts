/** Texts of the page Reset your password. */
export const forgot = {
  title: 'Reset your password',
  text: 'Enter your email address, and we will send you a link to set a new password.',
  email: 'Email address',
  action: 'Send link',
  sent: (email: string) => `If ${email} has an account, an email is on its way. The link in it works once, within an hour.`,
  noMail: 'This server does not send email. The operator can find the link in the server’s output.',
  back: 'Back to sign-in',
} as const;
