/** Texts of the page Set up this gate. */
export const setup = {
  title: 'Set up this gate',
  text: 'Make the account of its operator. It can see and change everything here.',
  name: 'Name',
  email: 'E-mail address',
  password: 'Password',
  action: 'Make the operator account',
  missing: {
    title: 'This link cannot be used.',
    text: 'It was used already, or is too old. Somebody with access to the server can make a new one:',
    label: 'Command',
    command: 'npm run tollgate -- account invite --operator',
  },
  signIn: 'Sign in',
} as const;
