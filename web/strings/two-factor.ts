/** Texts of the page Two-factor authentication. */
export const twoFactor = {
  title: 'Two-factor authentication',
  text: 'Enter the current code from your authenticator app.',
  recoveryText: 'Enter one of your recovery codes. Each works once.',
  code: 'Code',
  recoveryCode: 'Recovery code',
  action: 'Continue',
  useRecovery: 'Use a recovery code',
  useApp: 'Use the authenticator app',
  back: 'Back to sign-in',
} as const;
