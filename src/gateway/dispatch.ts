import type { Model } from '../catalog/catalog.ts';
import type { RequestText } from '../openai/request-text.ts';
import { callerLimitOf, type ChatRequest } from '../openai/types.ts';
import type { Call, Watcher } from './call.ts';
import type { Toll } from './toll.ts';

/** A request to send, and the context that the attempts need. */
export interface Dispatch {
  readonly call: Call;
  readonly chat: ChatRequest;
  /** As in Target. */
  readonly source: RequestText | undefined;
  readonly model: Model;
  readonly toll: Pick<Toll, 'accountId' | 'affordRest'>;
  readonly outputTokensMax: number | undefined;
  /** As in Target. */
  readonly carried?: ReadonlyMap<string, string>;
  readonly continuation?: string;
  /** As in ReplyContext. */
  readonly choiceIndex?: number;
  /** The client wants a whole answer. If the provider answers a streaming request with one, it is taken as it is. */
  readonly takesWhole?: true;
  /** Ends the exchange early, where the call itself does not. */
  readonly watcher?: Watcher;
  /** When all exchanges of one attempt must be over, by `performance.now()`. */
  readonly endsAtMs?: number;
}

/** Returns the output limit of each choice: the client's limit, else the limit that the money pays for, else the model's maximum. */
export function outputLimitOf({ chat, model, outputTokensMax }: Pick<Dispatch, 'chat' | 'model' | 'outputTokensMax'>): number {
  return callerLimitOf(chat) ?? outputTokensMax ?? model.maxOutputTokens;
}
