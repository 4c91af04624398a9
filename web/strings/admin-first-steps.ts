/** Texts of the operator's page First steps. */
export const adminFirstSteps = {
  title: 'First steps',
  text: 'What the service needs before others can use it. Settings are read at startup: set them in the environment and restart the server. Steps are then ticked off.',
  progress: (done: number, all: number) => `${done} of ${all} done`,
  optional: (title: string) => `${title} (optional)`,
  environment: 'Environment',
  command: 'Command line',
  factor: {
    title: 'Turn on two-factor authentication',
    done: 'On. Operators cannot open these pages without it.',
  },
  address: {
    title: 'Set the public address',
    toDo: (url: string) =>
      `The service calls itself ${url}, which is not encrypted. Put a proxy with a certificate in front of it, and set the proxy’s public address.`,
    done: (url: string) => `People and programs reach it at ${url}.`,
    code: 'PUBLIC_URL=https://gate.example.com',
  },
  provider: {
    title: 'Connect a provider',
    toDo: 'The sandbox makes up its answers. For real models, set a provider’s key in one of these variables:',
    done: 'Connected. Try it with a small call, which you pay for yourself.',
    which: 'Provider',
    code: 'OPENAI_API_KEY=sk-…',
  },
  mail: {
    title: 'Set up email',
    toDo: 'Needed to verify addresses, reset passwords and send alerts. Until then, the server prints the links.',
    code: 'SMTP_URL=smtps://name:password@mail.example.com',
  },
  payments: {
    title: 'Accept payments',
    toDo: 'Without payments, credit comes only from operators and promo codes. Stripe sends its events to /webhooks/stripe at your public address.',
    done: 'People can top up their balances themselves.',
    code: 'STRIPE_SECRET_KEY=sk_live_…\nSTRIPE_WEBHOOK_SECRET=whsec_…',
  },
  backup: {
    title: 'Make backups',
    toDo: 'Every balance is in the embedded database, a single file. Copy it every day while the service runs, and keep the copy elsewhere.',
    done: 'Latest backup:',
    code: 'npm run tollgate -- backup --to /backups/tollgate.db',
  },
  complete: { title: 'The service is ready', text: 'Invite people in Settings, or create a key for yourself.', action: 'Create key' },
} as const;
