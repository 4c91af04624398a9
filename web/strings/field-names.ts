/** Names of fields of requests, for errors that no field on the page shows, where a field's own name does not say enough. */
export const fieldNames: Readonly<Record<string, string>> = {
  addresses: 'Allowed IPs',
  day: 'Daily limit',
  methodRef: 'Card',
  month: 'Monthly limit',
  total: 'Total limit',
  url: 'URL',
  usd: 'Amount',
  week: 'Weekly limit',
};
