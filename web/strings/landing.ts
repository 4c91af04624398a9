/** Texts of the landing page. */
export const landing = {
  title: 'One gate in front of every model',
  text: 'One address, one key and one prepaid balance for the models of every provider. Each answer has its price, to the last digit.',
  signUp: 'Create an account',
  models: 'Models and prices',
} as const;
