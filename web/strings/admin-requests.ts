/** Texts of the operator's page Requests; what each request shows is in those of everybody's. */
export const adminRequests = {
  title: 'Requests',
  text: 'The requests of all accounts. What was asked and answered is shown to nobody but its owner.',
  id: 'Request id (x-request-id)',
  account: 'Account: e-mail or id',
  accountColumn: 'Account',
  key: 'Key id',
  accountId: 'account id',
  owner: 'Whose it is',
  everything: 'Show 30 days',
  refusedText: 'What was refused before a provider was asked, of all accounts: the newest thousand of each.',
  noneOfId: 'There is no request of this id, and none that was refused and is still recorded.',
} as const;
