/** Texts of the page Second factor. */
export const twoFactor = {
  title: 'Second factor',
  text: 'Enter the code that your authenticator app shows now.',
  recoveryText: 'Enter one of the recovery codes that you kept. Each works once.',
  code: 'Code',
  recoveryCode: 'Recovery code',
  action: 'Go on',
  useRecovery: 'Use a recovery code',
  useApp: 'Use the app',
  back: 'Back to sign-in',
} as const;
