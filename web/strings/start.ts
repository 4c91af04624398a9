/** Texts of the first steps. */
export const start = {
  title: 'Get started',
  text: 'From here to the first answer of a model. The list ticks itself when something has really happened.',
  steps: {
    verify: {
      title: 'Verify your e-mail address',
      text: 'Open the link in the letter we sent.',
      printed: 'This server sends no mail: the link is in its output, for the operator.',
      action: 'Send it again',
    },
    key: { title: 'Make an API key', text: 'Programs call models with it. Its secret is shown once.', action: 'Make a key' },
    balance: { title: 'Put money on the account', text: 'Or redeem a code. Nothing is charged beyond it.', action: 'Add balance' },
    request: { title: 'Make the first request', text: 'From your own program, or with the button on this page.' },
  },
  progress: (count: number, all: number) => `${count} of ${all} done`,
  complete: {
    title: 'You are set up.',
    text: 'Verified, funded, and the first request was answered.',
    again: 'Show the steps',
    hide: 'Hide the steps',
  },
  secret: {
    title: 'Your key',
    text: 'This is the only time it is shown. It is filled in below for as long as this page is open.',
    what: 'API key',
  },
  code: {
    title: 'Call a model',
    filled: 'Your new key is filled in.',
    variable: (name: string) => `Set ${name} to a key of yours first.`,
    model: 'Model',
  },
  test: {
    text: (model: string) => `One small call of ${model}, from this page to /v1, charged as any other.`,
    none: 'There is no model to call.',
  },
  prompt: 'Say hello to the gate keeper.',
} as const;

/** Texts of the card that makes one call. */
export const testCall = {
  title: 'Send a test request',
  action: 'Send test request',
  prompt: 'Say hello to the gate keeper.',
  status: 'Status',
  tokens: 'Tokens in / out',
  cost: 'Cost',
  time: 'Time',
  requestId: 'request id',
  model: 'model',
} as const;
