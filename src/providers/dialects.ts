import { anthropic, anthropicVertex } from './anthropic/anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { gemini, geminiVertex } from './gemini/gemini.ts';
import { withLegacyFunctions } from './legacy-functions.ts';
import { openai } from './openai.ts';
import type { DialectName } from './dialect-names.ts';
import type { Dialect } from './dialect.ts';
import { withReasoningFields } from './reasoning-fields.ts';
import { sandbox } from './sandbox.ts';

/** All dialects a provider can be configured with, by their name in the settings. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  openai: withLegacyFunctions(openai, (host) => host?.request?.messages?.hasBasicSchema === true),
  anthropic: withReasoningFields(anthropic),
  'anthropic-vertex': withReasoningFields(anthropicVertex),
  gemini: withReasoningFields(gemini),
  'gemini-vertex': withReasoningFields(geminiVertex),
  bedrock: withReasoningFields(bedrock),
  azure,
  sandbox,
};
