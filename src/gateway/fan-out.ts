import { objectsOf, type ChatRequest, type JsonObject } from '../openai/types.ts';
import type { DecodedReply } from '../providers/dialect.ts';
import type { Answer, WholeAnswer } from './answer.ts';
import type { ask, Leg } from './ask.ts';
import { holdBody } from './body-memory.ts';
import { ChoiceStream } from './choice-stream.ts';
import type { Dispatch } from './dispatch.ts';
import type { Gate } from './gate.ts';
import { CONCURRENT_MAX, Strands, type Strand } from './strands.ts';
import { addTallies, joinCarried, tallyOf } from './tally.ts';

/** How a provider is asked for one answer. */
interface SingleAsk {
  readonly leg: Leg;
  readonly ask: typeof ask;
}

/** Asks a provider that returns one choice once per choice, and merges the answers into one. */
export async function fanOut(gate: Gate, dispatch: Dispatch, { leg, ask: askOnce }: SingleAsk): Promise<Answer> {
  const { chat, call } = dispatch;
  const { n = 1 } = chat;
  // Each exchange holds its own encoded copy of the body.
  const copiesBytes = call.heldBytes * (Math.min(n, CONCURRENT_MAX) - 1);
  holdBody(call, copiesBytes, gate.held);
  const endsAtMs = performance.now() + gate.config.timeouts.totalMs;
  const strands = new Strands(n, (strand) =>
    askOnce(gate, { ...dispatch, chat: chatOf(chat, strand), choiceIndex: strand.index, watcher: strand, endsAtMs }, leg),
  );
  call.watch(strands, strands);
  try {
    return chat.stream === true ? await openStream(strands) : mergeWhole(await strands.askAll());
  } catch (error) {
    strands.abort(error);
    holdBody(call, -copiesBytes, gate.held);
    throw error;
  }
}

/** Returns the request for one choice. Each choice gets its own seed, because the same seed would give the same answer every time. */
function chatOf(chat: ChatRequest, { index }: Strand): ChatRequest {
  return { ...chat, n: 1, ...(chat['seed'] === undefined ? {} : { seed: raiseSeed(chat['seed'], index) }) };
}

/** Raises a seed. One beyond 2^53 is kept as its digits, and rounding would make neighbours equal. After the largest comes the smallest. */
function raiseSeed(seed: unknown, by: number): unknown {
  const raised = BigInt.asIntN(64, BigInt(JSON.stringify(seed)) + BigInt(by));
  return Number.isSafeInteger(Number(raised)) ? Number(raised) : JSON.rawJSON(String(raised));
}

async function openStream(strands: Strands): Promise<Answer> {
  const stream = new ChoiceStream(strands);
  const first = await stream.open();
  return { ...first, source: stream };
}

function mergeWhole(answers: readonly Answer[]): Answer {
  const whole = answers.filter((answer): answer is WholeAnswer => answer.type === 'whole');
  const [first] = whole;
  if (first === undefined) throw new TypeError('A fan-out has no answers');
  const replies = whole.map(({ reply }) => reply);
  const { usage, wireUsage, outputText, prompts } = addTallies(whole.map((answer) => tallyOf(answer.reply, answer.prompts)));
  const body = { ...first.reply.body, choices: replies.flatMap(choicesOf), ...(wireUsage === undefined ? {} : { usage: wireUsage }) };
  return { ...first, prompts, reply: { body, usage, outputText, carried: joinCarried(replies.map(({ carried }) => carried)) } };
}

function choicesOf({ body }: DecodedReply, index: number): JsonObject[] {
  const [choice] = objectsOf(body['choices']);
  return choice === undefined ? [] : [{ ...choice, index }];
}
