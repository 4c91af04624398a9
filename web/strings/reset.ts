/** Texts of the page Choose a new password. */
export const reset = {
  title: 'Choose a new password',
  text: 'This signs you out on every device.',
  password: 'New password',
  action: 'Set password',
  missing: { title: 'This link is not valid', text: 'Request a new one.' },
  done: 'Password set. Sign in with it.',
  firstProof:
    'If your address was never verified before, it is now. Other ways to sign in and the webhook were then removed and API keys disabled, because somebody else may have set them up. Enable only keys that you created.',
  signIn: 'Sign in',
  again: 'Request a new link',
} as const;
