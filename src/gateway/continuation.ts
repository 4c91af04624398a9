import { joinObjects } from '../openai/assemble-chunks.ts';
import { isObject, objectOf, objectsOf, type JsonObject } from '../openai/types.ts';
import { DIALECTS } from '../providers/dialects.ts';
import type { DecodedReply } from '../providers/dialect.ts';
import type { Answer, WholeAnswer } from './answer.ts';
import { ask, type Leg } from './ask.ts';
import { outputLimitOf, type Dispatch } from './dispatch.ts';
import type { Gate } from './gate.ts';
import { ContinuedStream } from './continued-stream.ts';
import { estimateTokens } from './price.ts';
import { addTallies, joinCarried, tallyOf, type Tally } from './tally.ts';

/** A provider that stops more often than this never reaches an end. */
const PARTS_MAX = 16;

/** Asks a provider that may stop for reasons of its own, and follows its answer to the end. */
export async function askToTheEnd(gate: Gate, dispatch: Dispatch, leg: Leg): Promise<Answer> {
  // One of several choices shares its total time with the others.
  const endsAtMs = dispatch.endsAtMs ?? performance.now() + gate.config.timeouts.totalMs;
  const answer = await ask(gate, dispatch, leg);
  const rest = new Rest(gate, { ...dispatch, endsAtMs }, leg);
  if (answer.type === 'stream') return { ...answer, source: new ContinuedStream(answer.source, rest) };
  return answer.reply.continuation === undefined ? answer : followWhole(answer, rest);
}

async function followWhole(first: WholeAnswer, rest: Rest): Promise<Answer> {
  let { reply, prompts } = first;
  while (reply.continuation !== undefined) {
    const next = await rest.ask(reply.continuation, tallyOf(reply, prompts));
    if (next?.type !== 'whole') return { ...first, reply: cutOff(reply), prompts };
    reply = joinReplies(reply, next.reply);
    prompts += next.prompts;
  }
  return { ...first, reply, prompts };
}

/** Fetches the rest of an answer whose provider stopped before the end. */
export class Rest {
  readonly #gate: Gate;
  readonly #dispatch: Dispatch;
  readonly #leg: Leg;
  readonly #asked = new Set<string>();

  constructor(gate: Gate, dispatch: Dispatch, leg: Leg) {
    this.#gate = gate;
    this.#dispatch = dispatch;
    this.#leg = leg;
  }

  /**
   * Asks for the next part. Returns undefined when the answer must end where it is: the same continuation or too many parts were asked
   * for before, the output limit is used up, or the account cannot pay for reading the input again.
   */
  async ask(continuation: string, soFar: Tally): Promise<Answer | undefined> {
    const outputTokens = soFar.usage?.outputTokens ?? estimateTokens(soFar.outputLength);
    const left = outputLimitOf(this.#dispatch) - outputTokens;
    if (this.#asked.size === PARTS_MAX || this.#asked.has(continuation) || left < 1) return undefined;
    this.#asked.add(continuation);
    if (!(await this.#dispatch.toll.affordRest(outputTokens))) return undefined;
    // Each part gets what the earlier parts left of the limit, unless the provider subtracts that itself.
    const { limitsAllParts } = DIALECTS[this.#leg.provider.dialect];
    const outputTokensMax = limitsAllParts === true ? this.#dispatch.outputTokensMax : left;
    return ask(this.#gate, { ...this.#dispatch, continuation, outputTokensMax }, this.#leg);
  }
}

/** Joins two parts of an answer: the output is concatenated, and the finish reason of the second part counts. */
function joinReplies(one: DecodedReply, other: DecodedReply): DecodedReply {
  const { usage, wireUsage, outputText } = addTallies([tallyOf(one, 1), tallyOf(other, 1)]);
  const [first, second] = [choiceOf(one), choiceOf(other)];
  // A role of null leaves the first one as it is.
  const message = joinObjects(objectOf(first['message']), { ...objectOf(second['message']), role: null });
  const logprobs = isObject(first['logprobs']) ? joinObjects(first['logprobs'], objectOf(second['logprobs'])) : second['logprobs'];
  const choice = { ...first, ...second, message, logprobs: logprobs ?? null };
  return {
    body: { ...one.body, choices: [choice], ...(wireUsage === undefined ? {} : { usage: wireUsage }) },
    usage,
    outputText,
    carried: joinCarried([one.carried, other.carried]),
    continuation: other.continuation,
  };
}

function cutOff(reply: DecodedReply): DecodedReply {
  return { ...reply, body: { ...reply.body, choices: [{ ...choiceOf(reply), finish_reason: 'length' }] } };
}

/** Returns the only choice: providers that stop early return one. */
function choiceOf({ body }: DecodedReply): JsonObject {
  return objectsOf(body['choices'])[0] ?? {};
}
