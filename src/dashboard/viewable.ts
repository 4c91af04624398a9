/** The parts of an account that an operator can look at as its owner does. Settings are left out: they are the person's, and so is what they try out. */
export const VIEWABLE = ['account', 'overview', 'keys', 'usage', 'requests', 'billing', 'plans', 'statement', 'alerts'] as const;
export type Viewable = (typeof VIEWABLE)[number];
