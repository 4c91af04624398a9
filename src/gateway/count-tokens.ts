import type { ChatRequest } from '../openai/types.ts';
import type { CountedTokens, CountRequest, Prompt } from './count-tokens-worker.ts';
import { startWorker } from '../start-worker.ts';

/** The tokenizer takes memory of its own. It is released after this long without use. */
const IDLE_MS = 60_000;
const COUNT_MS = 10_000;
/** A little less than a shutdown waits for threads. */
const CLOSE_MS = 5000;
const CLOSE_POLL_MS = 10;
/** More than any model reads or writes. */
const CHARACTERS_MAX = 20_000_000;

interface Counter {
  readonly worker: Worker;
  /** False while the worker loads, which takes a while on a busy machine. */
  isReady: boolean;
  readonly waiting: Map<number, (counted: CountedTokens | undefined) => void>;
}

let counter: Counter | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/**
 * Counts the tokens of a request ourselves, for providers that report no usage and answers that ended early. The count runs in a thread
 * that starts when first needed; requests whose provider reports usage never wait for it. Returns undefined when it takes too long.
 */
export function countTokens(chat: ChatRequest, outputText: string, patienceMs = COUNT_MS): Promise<CountedTokens | undefined> {
  if (outputText.length > CHARACTERS_MAX) return Promise.resolve(undefined);
  counter ??= startCounter();
  const own = counter;
  const { worker, waiting } = own;
  clearTimeout(idleTimer);
  // A timer that only saves memory must not keep the process alive.
  idleTimer = setTimeout(stopCounter, IDLE_MS).unref();
  lastId += 1;
  const prompt: Prompt = { messages: chat.messages, tools: chat['tools'] ?? chat['functions'] };
  const request: CountRequest = { id: lastId, prompt: JSON.stringify(prompt), outputText };
  return new Promise((resolve) => {
    // A thread that is busy for this long blocks every other count too. It is stopped with all its work, and the next count starts another.
    const timer = setTimeout(() => (own.isReady && own === counter ? stopCounter() : finish(undefined)), patienceMs);
    const finish = (counted: CountedTokens | undefined): void => {
      clearTimeout(timer);
      waiting.delete(request.id);
      resolve(counted);
    };
    waiting.set(request.id, finish);
    worker.postMessage(request);
  });
}

/**
 * Stops the thread once no count is pending: the charges of clients that left depend on it. Counts that take too long are abandoned, so
 * that an estimate is charged before the ledger closes.
 */
export async function closeCounter(patienceMs = CLOSE_MS): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (isCounting() && performance.now() < deadlineMs) await closePoll();
  stopCounter();
  // Those who waited for a count now hand their charge to the ledger.
  await closePoll();
}

function isCounting(): boolean {
  return counter !== undefined && counter.waiting.size > 0;
}

function closePoll(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
}

/** Stops the thread. Pending counts resolve to undefined. */
function stopCounter(): void {
  const stopped = counter;
  counter = undefined;
  clearTimeout(idleTimer);
  for (const finish of stopped?.waiting.values() ?? []) finish(undefined);
  stopped?.worker.terminate();
}

function startCounter(): Counter {
  const started: Counter = { worker: startWorker('gateway/count-tokens-worker'), isReady: false, waiting: new Map() };
  started.worker.onmessage = ({ data }: MessageEvent<CountedTokens & { readonly id: number }>) => {
    started.isReady = true;
    started.waiting.get(data.id)?.(data);
  };
  started.worker.onerror = () => {
    // Another worker may have replaced this one.
    if (started === counter) stopCounter();
  };
  return started;
}
