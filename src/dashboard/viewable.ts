/** The sections of an account that an operator can view as its owner. Settings and the playground are private to the owner. */
export const VIEWABLE = ['account', 'overview', 'keys', 'usage', 'requests', 'billing', 'plans', 'statement', 'alerts'] as const;
/** One of these sections. */
export type Viewable = (typeof VIEWABLE)[number];
