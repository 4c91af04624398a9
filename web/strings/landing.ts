/** Texts of the landing page. */
export const landing = {
  title: 'One gate in front of every model, and an honest toll.',
  text: 'One address, one key and one prepaid balance for the models of every provider. Each answer is charged once, to the last digit, and you can check the arithmetic.',
  signUp: 'Create an account',
  models: 'Models and prices',
  equation: {
    title: 'Every cost is an equation',
    model: 'model',
    input: 'input',
    output: 'output',
    perMillion: 'per 1M',
    total: 'charged',
    hint: 'Calculated just now from this gateway’s own price list.',
  },
  points: [
    {
      title: 'A limit is a limit',
      text: 'The highest possible cost is reserved before a model is called, and the actual cost is charged afterwards. However many requests run at once, no account and no key spends money it does not have.',
    },
    {
      title: 'Charged once, or not at all',
      text: 'An answer completes only when its charge is on disk. Failed requests cost nothing, and a crash neither loses a charge nor repeats one.',
    },
    {
      title: 'Keys with their own rules',
      text: 'Daily, weekly and monthly budgets combined, rate limits, allowed models and IPs, and an expiry date. Rotate the secret while the old one still works.',
    },
    {
      title: 'Measured, not promised',
      text: 'Success rate and speed of every model come from real requests through this gateway. Where nothing was measured, it says so.',
    },
  ],
  call: 'Works with the client you have',
  callText: 'Tollgate speaks the chat completions format. Set the base URL and the key in the client you already use.',
  prompt: 'Hello!',
} as const;
