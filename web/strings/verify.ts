/** Texts of the page Verify your address. */
export const verify = {
  title: 'Verify your address',
  checking: 'Checking the link …',
  sent: (email: string) => `We sent a letter to ${email}. Open the link in it to go on; it works for an hour.`,
  sentSomewhere: 'We sent you a letter. Open the link in it to go on; it works for an hour.',
  noMail: {
    title: 'This server sends no mail.',
    text: 'The link is printed in its output instead, for the operator. Open it to go on; it works for an hour.',
    again: 'Print a new link',
    againIn: (seconds: number) => `Print again in ${seconds} s`,
    printed: 'If the address waits for verification, a new link was printed.',
  },
  email: 'E-mail address',
  again: 'Send the letter again',
  againIn: (seconds: number) => `Send again in ${seconds} s`,
  sentAgain: 'If the address waits for verification, a letter is on its way.',
  wrong: 'Wrong address?',
  wrongAction: 'Sign up with another one',
  done: 'Your address is verified.',
  signIn: 'Sign in',
  password: 'Password',
  passwordNeeded: (email: string) =>
    `This is not the browser in which ${email} signed up. Enter the password that was chosen there. If you did not choose one, somebody else used your address: set a new password, and the account is yours.`,
  action: 'Verify',
  reset: 'Set a new password',
} as const;
