/** Texts of the page Set up Tollgate. */
export const setup = {
  title: 'Set up Tollgate',
  text: 'Create the operator account. It can see and change everything here.',
  name: 'Name',
  email: 'Email address',
  password: 'Password',
  action: 'Create operator account',
  missing: {
    title: 'This link is not valid',
    text: 'It has already been used or has expired. Anyone with access to the server can create a new one:',
    label: 'Command',
    command: 'npm run tollgate -- account invite --operator',
  },
  signIn: 'Sign in',
} as const;
