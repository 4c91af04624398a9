import type { ChatRequest } from '../../openai/types.ts';
import type { Target } from '../dialect.ts';
import type { Capabilities } from './capabilities.ts';

/** The two services that speak the dialect: the Gemini API and Vertex. */
export type Service = 'gemini' | 'vertex';

/** The shared state of all encoding steps. */
export interface Draft {
  readonly chat: ChatRequest;
  readonly target: Target;
  readonly service: Service;
  readonly capabilities: Capabilities;
  /** Fields that could not be honoured so far. */
  readonly dropped: Set<string>;
}
