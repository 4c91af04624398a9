/** Texts of the page Verify your email address. */
export const verify = {
  title: 'Verify your email address',
  checking: 'Checking the link…',
  sent: (email: string) => `We sent an email to ${email}. Open the link in it within an hour to continue.`,
  sentSomewhere: 'We sent you an email. Open the link in it within an hour to continue.',
  noMail: {
    title: 'This server does not send email',
    text: 'The operator can find the link in the server’s output. Open it within an hour to continue.',
    again: 'Print a new link',
    againIn: (seconds: number) => `Print again in ${seconds} s`,
    printed: 'If the address is awaiting verification, a new link was printed.',
  },
  email: 'Email address',
  again: 'Resend email',
  againIn: (seconds: number) => `Resend in ${seconds} s`,
  sentAgain: 'If the address is awaiting verification, an email is on its way.',
  wrong: 'Wrong address?',
  wrongAction: 'Sign up with a different one',
  done: 'Your email address is verified',
  signIn: 'Sign in',
  password: 'Password',
  passwordNeeded: (email: string) =>
    `${email} signed up in a different browser. Enter the password chosen there. If you did not choose one, someone else used your address: set a new password, and the account is yours.`,
  action: 'Verify',
  reset: 'Set a new password',
} as const;
