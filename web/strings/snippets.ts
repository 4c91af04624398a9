/** Texts of code examples. */
export const snippets = {
  claudeCode: 'Claude Code speaks another API format, so a router translates. This replaces the router’s settings, if it has any.',
} as const;
