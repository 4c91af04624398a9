/** Texts of the page Get started. */
export const start = {
  title: 'Get started',
  text: 'Everything up to your first answer from a model. Steps are ticked off as they happen.',
  steps: {
    verify: {
      title: 'Verify your email address',
      text: 'Open the link in the email we sent you.',
      printed: 'This server does not send email. The operator can find the link in the server’s output.',
      action: 'Get a new link',
    },
    key: { title: 'Create an API key', text: 'Programs use it to call models. Its secret is shown once.', action: 'Create key' },
    balance: { title: 'Add credit', text: 'Top up or redeem a promo code. You cannot spend more than that.', action: 'Add credit' },
    request: { title: 'Send your first request', text: 'From your own program, or with the button on this page.' },
  },
  progress: (count: number, all: number) => `${count} of ${all} done`,
  complete: {
    title: 'You are all set',
    text: 'Your email is verified, your balance is funded, and your first request was answered.',
    again: 'Show steps',
    hide: 'Hide steps',
  },
  secret: {
    title: 'Your API key',
    text: 'It is shown only once. While this page is open, it is filled in below.',
    what: 'API key',
  },
  code: {
    title: 'Call a model',
    filled: 'Your new key is filled in.',
    variable: (name: string) => `Set ${name} to one of your keys first.`,
    model: 'Model',
  },
  test: {
    text: (model: string) => `Sends one small request to ${model} from this page through /v1. It is charged like any other.`,
    none: 'No model is available.',
  },
  prompt: 'Say hello to the gatekeeper.',
} as const;

/** Texts of the card that sends one test request. */
export const testCall = {
  title: 'Send a test request',
  action: 'Send test request',
  prompt: 'Say hello to the gatekeeper.',
  status: 'Status',
  tokens: 'Tokens in / out',
  cost: 'Cost',
  time: 'Time',
  requestId: 'request ID',
  model: 'model',
} as const;
