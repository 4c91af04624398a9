/** Texts of code examples. */
export const snippets = {
  claudeCode: 'Claude Code needs a router that translates. This replaces the settings of an earlier one.',
} as const;
