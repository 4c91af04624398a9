/** Texts of the operator's page Audit log. */
export const adminAudit = {
  title: 'Audit log',
  text: 'Who changed what, in all accounts. Entries are written with the change itself and never changed.',
  caption: 'Changes, newest first',
  time: 'Time',
  who: 'Who',
  what: 'What',
  about: 'About',
  changes: 'Changes',
  id: 'id',
  none: 'none',
  actor: 'Who did it',
  subject: 'Address or id',
  action: 'Any change',
  empty: { title: 'Nothing was changed yet.', text: 'Credit by hand, keys, suspensions and sign-ins will stand here.' },
} as const;
