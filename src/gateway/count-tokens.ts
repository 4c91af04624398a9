import type { ChatRequest } from '../openai/types.ts';
import type { CountedTokens, CountRequest, Prompt } from './count-tokens-worker.ts';
import { startWorker } from '../start-worker.ts';

/** The tokenizer takes memory of its own; when nobody needs it for this long, it is given back. */
const IDLE_MS = 60_000;
const COUNT_MS = 10_000;
const CLOSE_POLL_MS = 10;
/** Nothing that a model reads or writes is longer. */
const CHARACTERS_MAX = 20_000_000;

interface Counter {
  readonly worker: Worker;
  /** False while it loads, which takes a while on a busy machine. */
  isReady: boolean;
  readonly waiting: Map<number, (counted: CountedTokens | undefined) => void>;
}

let counter: Counter | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;
let lastId = 0;

/**
 * Our own count of a request, for providers that report none and answers that broke off. It runs in a thread that is
 * started when it is first needed, and no request waits for it whose provider reports usage. Undefined when it cannot be had in time.
 */
export function countTokens(chat: ChatRequest, outputText: string, patienceMs = COUNT_MS): Promise<CountedTokens | undefined> {
  if (outputText.length > CHARACTERS_MAX) return Promise.resolve(undefined);
  counter ??= startCounter();
  const own = counter;
  const { worker, waiting } = own;
  clearTimeout(idleTimer);
  // A timer for the sake of memory must not keep the process alive.
  idleTimer = setTimeout(stopCounter, IDLE_MS).unref();
  lastId += 1;
  const prompt: Prompt = { messages: chat.messages, tools: chat['tools'] };
  const request: CountRequest = { id: lastId, prompt: JSON.stringify(prompt), outputText };
  return new Promise((resolve) => {
    // A thread that is busy for so long keeps everybody else waiting too: it is ended with whatever it does, and the next count starts another.
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

/** Ends the thread as soon as nobody waits for a count: charges of callers who left depend on it. */
export async function closeCounter(): Promise<void> {
  if (counter === undefined || counter.waiting.size === 0) return stopCounter();
  await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
  return closeCounter();
}

/** Ends the thread; whoever still waits goes without a count. */
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
    // By now there may be another.
    if (started === counter) stopCounter();
  };
  return started;
}
