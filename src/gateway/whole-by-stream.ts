import { AssembledAnswer } from '../openai/assemble-chunks.ts';
import { objectsOf, type JsonObject } from '../openai/types.ts';
import { ProviderFault, type Dialect } from '../providers/dialect.ts';
import type { Answer, StreamAnswer } from './answer.ts';
import type { ask } from './ask.ts';
import { holdReply } from './body-memory.ts';
import { outputLimitOf, type Dispatch } from './dispatch.ts';
import { toCallerError } from './faults.ts';

/** A provider that sends more never reaches an end. */
const CHARACTERS_MAX = 64_000_000;

/** Whether an answer may exceed what its provider returns in one piece: connections that are silent for minutes get cut. */
export function mustStream(dispatch: Dispatch, { wholeTokensMax }: Dialect): boolean {
  return wholeTokensMax !== undefined && dispatch.chat.stream !== true && outputLimitOf(dispatch) > wholeTokensMax;
}

/** Asks for a stream where the client wants a whole answer, and returns the answer when it is complete. */
export function byStream(askOnce: typeof ask): typeof ask {
  return async (gate, dispatch, leg) => {
    const answer = await askOnce(gate, { ...dispatch, takesWhole: true, chat: { ...dispatch.chat, stream: true } }, leg);
    if (answer.type !== 'stream') return answer;
    try {
      return await assemble(answer, (bytes) => holdReply(dispatch.call, bytes, gate.held));
    } catch (failure) {
      // Otherwise the provider might go on unwatched.
      dispatch.call.abortExchange(failure);
      throw toCallerError(failure, { credentials: answer.credentials, headers: undefined });
    }
  };
}

async function assemble({ source, provider, servedModel, dropped }: StreamAnswer, hold: (bytes: number) => void): Promise<Answer> {
  const assembled = new AssembledAnswer();
  let characters = 0;
  await new Promise<void>((resolve, reject) => {
    const onText = (text: string): void => {
      characters += text.length;
      if (characters > CHARACTERS_MAX) {
        reject(new ProviderFault(`The provider's answer has more than ${CHARACTERS_MAX} characters`));
        return;
      }
      try {
        for (const chunk of chunksOf(text)) {
          hold(outputLengthOf(chunk));
          assembled.add(chunk);
        }
      } catch (error) {
        reject(error);
      }
    };
    source.start({ onText, onTokens: (out) => onText(out.read()), onComplete: resolve, onFailure: reject });
  });
  source.finish();
  const { usage, wireUsage, outputText, prompts } = source.tally();
  const body = { ...assembled.read(), ...(wireUsage === undefined ? {} : { usage: wireUsage }) };
  const reply = { body, usage, outputText, ...(source.carried === undefined ? {} : { carried: source.carried }) };
  return { provider, servedModel, dropped, type: 'whole', prompts, reply };
}

/** Returns about how much of a chunk is kept: the rest of it repeats. */
function outputLengthOf(chunk: JsonObject): number {
  const [choice] = objectsOf(chunk['choices']);
  return JSON.stringify(choice?.['delta'] ?? '').length;
}

/** Splits the text of a relay, whose events are one line of JSON each, into chunks. */
function chunksOf(text: string): JsonObject[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
}
