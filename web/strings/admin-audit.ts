/** Texts of the operator's page Audit log. */
export const adminAudit = {
  title: 'Audit log',
  text: 'Who changed what, across all accounts. Entries are written together with the change and never edited.',
  caption: 'Changes, newest first',
  time: 'Time',
  what: 'Action',
  about: 'Subject',
  changes: 'Changes',
  id: 'ID',
  none: 'none',
  actor: 'Changed by',
  subject: 'Email or ID',
  action: 'Any action',
  empty: { title: 'No changes yet', text: 'Manual credit, key changes, suspensions and sign-ins appear here.' },
} as const;
