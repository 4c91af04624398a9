import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import { ProviderFault, type Target } from '../provider.ts';
import type { Capabilities } from './capabilities.ts';
import type { Grammar } from './encode-schema.ts';
import type { ToolNames } from './tool-names.ts';

/** One block of a message: text, an image, a tool call, its result, thinking. */
export type Block = { readonly type: string } & JsonObject;

/** Where Claude is served, and what is different there. */
export interface Platform {
  encodeAddress(target: Target, isStreaming: boolean): string;
  encodeHeaders(target: Target, apiVersion: string): Record<string, string>;
  /** The fields that say which model is meant. */
  encodeModel(target: Target): JsonObject;
  /** What the models cannot do here, although they can elsewhere. */
  readonly limits: Partial<Capabilities>;
  /** Whether addresses of images and documents may be sent, and switches that are not yet for everybody. */
  readonly takesUrls: boolean;
  readonly takesBetas: boolean;
  readonly takesServiceTier: boolean;
  /** Whether it can be told to keep a prompt without being told where to cut it. */
  readonly marksByItself: boolean;
}

/** What every step of the encoding works with. */
export interface Draft {
  readonly chat: ChatRequest;
  readonly target: Target;
  readonly platform: Platform;
  readonly can: Capabilities;
  readonly names: ToolNames;
  readonly grammar: Grammar;
  /** Fields of the caller's request that were left out, as far as is known yet. */
  readonly dropped: Set<string>;
}

/** A request that would mean something else without the part that cannot be said in this dialect. */
export function refuse(param: string, message: string): ProviderFault {
  return new ProviderFault(message, { status: 400, code: 'unsupported_value', param });
}
