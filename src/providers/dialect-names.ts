/** The dialects a provider can speak, by the names the settings use. `sandbox` is built in. */
export const DIALECT_NAMES = ['openai', 'anthropic', 'anthropic-vertex', 'gemini', 'gemini-vertex', 'bedrock', 'azure'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number] | 'sandbox';
