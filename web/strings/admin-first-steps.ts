/** Texts of the operator's first steps. */
export const adminFirstSteps = {
  title: 'First steps',
  text: 'What the service needs before others can use it. Settings are read at the start: set them in the environment, start it again, and the list ticks itself.',
  progress: (done: number, all: number) => `${done} of ${all} done`,
  optional: (title: string) => `${title} (optional)`,
  environment: 'Environment',
  command: 'Command line',
  factor: { title: 'Protect your account with a second factor', done: 'You sign in with one. Without it nobody sees these pages.' },
  address: {
    title: 'Give the service an address',
    toDo: (url: string) =>
      `It calls itself ${url}, which has no encryption. Put a proxy with a certificate in front of it, and set the address by which people reach that.`,
    done: (url: string) => `People and programs reach it at ${url}.`,
    code: 'PUBLIC_URL=https://gate.example.com',
  },
  provider: {
    title: 'Connect a provider',
    toDo: 'The sandbox makes up its answers. For real models set the key of a provider, by one of these:',
    done: 'Connected. Try it with a small call, which you pay for yourself.',
    which: 'Provider',
    code: 'OPENAI_API_KEY=sk-…',
  },
  mail: {
    title: 'Let the service send mail',
    toDo: 'To verify addresses, for forgotten passwords and for alerts. Until then the server prints the links.',
    code: 'SMTP_URL=smtps://name:password@mail.example.com',
  },
  payments: {
    title: 'Take payments',
    toDo: 'Without them, balances come from operators and codes alone. Stripe sends its events to /webhooks/stripe at the address of the service.',
    done: 'People top up their balances themselves.',
    code: 'STRIPE_SECRET_KEY=sk_live_…\nSTRIPE_WEBHOOK_SECRET=whsec_…',
  },
  backup: {
    title: 'Make backups',
    toDo: 'Every balance is in the embedded database, which is one file. Copy it every day, while the service runs, and keep the copy elsewhere.',
    done: 'The newest one:',
    code: 'npm run tollgate -- backup --to /backups/tollgate.db',
  },
  complete: { title: 'The service is ready.', text: 'Invite people under Settings, or make a key for yourself.', action: 'Make a key' },
} as const;
