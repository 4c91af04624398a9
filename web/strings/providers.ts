/** Texts for signing in with another service, such as GitHub. */
export const providers = {
  continue: (name: string) => `Continue with ${name}`,
  /** Why signing in failed, by the error code in the address. */
  errors: {
    access_denied: (name: string) => `${name} denied the sign-in. Nothing was changed.`,
    address_not_verified: (name: string) =>
      `${name} does not report your email address as verified. Verify it there and try again, or sign in with your password and link ${name} in Settings.`,
    own_address_not_verified: (name: string) =>
      `An account with your email address exists, but the address was never verified. Sign in with its password and link ${name} in Settings. If you never chose a password, set a new one, and the account is yours.`,
    account_not_linked: (name: string) =>
      `An account with your email address already exists. Sign in with its password and link ${name} in Settings.`,
    email_not_found: (name: string) => `${name} did not share your email address. An account here needs one.`,
    sign_up_closed: (name: string) => `You have no account here linked to ${name}, and sign-up is closed. Ask the operator for an account.`,
    invitation_needed: (name: string) =>
      `You have no account here linked to ${name}, and sign-up needs an open invitation. Open your invitation link and continue with ${name} there.`,
    invitation_other_address: (name: string) => `The invitation is for a different email address than the one ${name} reports.`,
    account_already_linked_to_different_user: (name: string) => `This account at ${name} is already linked to someone else here.`,
    session_over: (name: string) => `You were signed out in the meantime. Sign in, then link ${name} again.`,
    too_many: () => 'Too many attempts from your network. Wait a while, or sign in another way.',
    state_mismatch: (name: string) => `Signing in with ${name} took too long or was repeated. Try again.`,
    state_not_found: (name: string) => `Signing in with ${name} took too long or was repeated. Try again.`,
    unreachable: (name: string) => `${name} is not responding. Try again, or sign in another way.`,
  },
  failed: (name: string) => `${name} could not sign you in. Try again, or sign in another way.`,
  unnamed: 'The provider',
} as const;

/** Texts of the page between a sign-in provider and the dashboard. */
export const welcome = { title: 'Welcome', text: 'Signing you in…' } as const;
