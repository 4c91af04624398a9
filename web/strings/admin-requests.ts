/** Texts of the operator's page Requests. The texts of a single request are those of the page Requests. */
export const adminRequests = {
  title: 'Requests',
  text: 'Requests of all accounts. Only the owner of a request can see its prompt and answer.',
  id: 'Request ID (x-request-id)',
  account: 'Account: email or ID',
  accountColumn: 'Account',
  key: 'Key ID',
  accountId: 'account ID',
  owner: 'Account',
  everything: 'Show 30 days',
  refusedText: 'Requests of all accounts that were refused before reaching a provider: the newest thousand of each account.',
  notFound: 'No request has this ID, and no recorded refusal either.',
} as const;
