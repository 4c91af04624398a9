/** Texts of the landing page. */
export const landing = {
  title: 'One gate in front of every model, and an honest toll.',
  text: 'One address, one key and one prepaid balance for the models of every provider. Each answer is charged once, to the last digit, and you can read the sum.',
  signUp: 'Create an account',
  models: 'Models and prices',
  equation: {
    title: 'Every cost is an equation',
    model: 'model',
    input: 'input',
    output: 'output',
    perMillion: 'per 1M',
    total: 'charged',
    hint: 'Worked out now, from this gate’s own price list.',
  },
  points: [
    {
      title: 'A limit is a limit',
      text: 'The worst case is set aside before a model is called and the real cost is taken after. However many requests run at once, no account and no key spends what it does not have.',
    },
    {
      title: 'Charged once, or not at all',
      text: 'An answer ends only when its charge is on disk. What fails costs nothing, and a crash neither loses a charge nor repeats one.',
    },
    {
      title: 'Keys with rules of their own',
      text: 'Budgets per day, week and month together, rates, models, addresses and an end. Change the secret while the old one still works.',
    },
    {
      title: 'Measured, not promised',
      text: 'Success and speed of every model come from the requests that went through this gate. Where nothing was measured, it says so.',
    },
  ],
  call: 'Works with what you have',
  callText: 'The format is that of chat completions. Set the base address and the key in the client you use already.',
  prompt: 'Hello!',
} as const;
