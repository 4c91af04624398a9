/** Texts about those who let people in beside us. */
export const providers = {
  continue: (name: string) => `Continue with ${name}`,
  /** Why a provider did not let somebody in, by the code in the address. */
  errors: {
    access_denied: (name: string) => `${name} was told not to let you in here. Nothing was changed.`,
    address_not_verified: (name: string) =>
      `${name} does not say that your e-mail address is verified. Verify it there and try again, or sign in with your password and link ${name} under Settings.`,
    own_address_not_verified: (name: string) =>
      `There is an account with your e-mail address, but the address was never verified. Sign in with its password and link ${name} under Settings. If you never chose a password, set a new one: then the account is yours.`,
    account_not_linked: (name: string) =>
      `There is an account with your e-mail address already. Sign in with its password and link ${name} under Settings.`,
    email_not_found: (name: string) => `${name} did not tell your e-mail address, which an account here needs.`,
    sign_up_closed: (name: string) =>
      `You have no account here that ${name} is linked to, and signing up is closed. Ask the operator for one.`,
    invitation_needed: (name: string) =>
      `You have no account here that ${name} is linked to, and signing up needs an invitation that is open. Follow the link of yours, and use ${name} there.`,
    invitation_other_address: (name: string) => `The invitation is for another e-mail address than the one that ${name} knows.`,
    account_already_linked_to_different_user: (name: string) => `This account at ${name} is linked to somebody else here.`,
    session_over: (name: string) => `You were signed out meanwhile. Sign in, then link ${name} again.`,
    too_many: () => 'Too many tries from your network. Wait a while, or sign in another way.',
    state_mismatch: (name: string) => `The way to ${name} and back took too long, or was gone twice. Try again.`,
    state_not_found: (name: string) => `The way to ${name} and back took too long, or was gone twice. Try again.`,
    unreachable: (name: string) => `${name} does not answer at the moment. Try again, or sign in another way.`,
  },
  failed: (name: string) => `${name} did not let you in. Try again, or sign in another way.`,
  somebody: 'The provider',
} as const;

/** Texts of the page between a provider and the dashboard. */
export const welcome = { title: 'Welcome', text: 'One moment: you are being taken in …' } as const;
