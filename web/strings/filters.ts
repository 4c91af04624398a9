/** Texts of the filters shared by several pages. */
export const filters = {
  model: 'Model',
  allModels: 'All models',
  key: 'Key',
  allKeys: 'All keys',
  provider: 'Provider',
  allProviders: 'All providers',
  tag: 'Tag',
  allTags: 'All tags',
  endUser: 'End user',
  status: 'Status',
  anyStatus: 'Any status',
  unread: (why: string) => `The choices of some filters could not be loaded. ${why}`,
} as const;
