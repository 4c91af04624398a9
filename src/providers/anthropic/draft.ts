import type { ChatRequest, JsonObject } from '../../openai/types.ts';
import type { CallerTools } from '../caller-tools.ts';
import type { Target } from '../dialect.ts';
import type { Capabilities } from './capabilities.ts';
import type { Grammar } from './encode-schema.ts';

/** One block of a message: text, image, tool call, tool result or thinking. */
export type Block = { readonly type: string } & JsonObject;

/** A platform that serves Claude, and how it differs. */
export interface Platform {
  encodeAddress(target: Target, isStreaming: boolean): string;
  encodeHeaders(target: Target, apiVersion: string): Record<string, string>;
  /** Returns the fields that select the model. */
  encodeModel(target: Target): JsonObject;
  /** Capabilities the models lack on this platform. */
  readonly limits: Partial<Capabilities>;
  /** Whether the platform accepts URLs of images and documents, and whether it accepts beta flags. */
  readonly takesUrls: boolean;
  readonly takesBetas: boolean;
  readonly takesServiceTier: boolean;
  /** Whether the provider can place the cache mark itself, when the request as a whole is marked. */
  readonly placesCacheMark: boolean;
}

/** The shared state of all encoding steps. */
export interface Draft {
  readonly chat: ChatRequest;
  readonly target: Target;
  readonly platform: Platform;
  readonly capabilities: Capabilities;
  readonly tools: CallerTools;
  readonly grammar: Grammar;
  /** Fields of the caller's request that have been left out so far. */
  readonly dropped: Set<string>;
}
