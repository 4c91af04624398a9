import type { ChatRequest } from '../../openai/types.ts';
import type { Target } from '../provider.ts';
import type { Capabilities } from './capabilities.ts';

/** Which of the two services that speak the dialect: the Gemini API or Vertex. */
export type Service = 'gemini' | 'vertex';

/** What every step of encoding one request works with. */
export interface Encoding {
  readonly chat: ChatRequest;
  readonly target: Target;
  readonly service: Service;
  readonly capabilities: Capabilities;
  /** Fields that could not be honoured, added to as they are met. */
  readonly dropped: Set<string>;
}
