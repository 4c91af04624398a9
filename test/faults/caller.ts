import { expect } from 'bun:test';
import type { Behaviour } from '../simulator/behaviours.ts';
import type { Gate, GateOptions, TestKey } from '../simulator/gate.ts';
import { startGate } from '../simulator/gate.ts';
import type { OpenAiSimulator } from '../simulator/openai.ts';
import { startOpenAiSimulator } from '../simulator/openai.ts';
import type { JsonObject } from '../simulator/wire.ts';

/** A caller with credit, in front of a gate with a scripted provider. */
export interface Caller {
  readonly simulator: OpenAiSimulator;
  readonly gate: Gate;
  readonly key: TestKey;
  /** Sends a request for a JSON answer and one for a stream at the same time, while the provider shows this behaviour. */
  askBoth(behaviour: Behaviour, body?: JsonObject): Promise<{ json: Answer; streamed: Answer } & Outcome>;
  /** Sends one request while the provider shows this behaviour. */
  ask(behaviour: Behaviour, body?: JsonObject): Promise<Answer & Outcome>;
  /** Returns what the account has paid since the last call. */
  chargedNanos(): Promise<bigint>;
  stop(): Promise<void>;
}

/** What the caller received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** What a request left behind. */
interface Outcome {
  readonly chargedNanos: bigint;
  /** Returns what the gate has logged since. */
  readonly logged: () => readonly JsonObject[];
}

export const CHAT: JsonObject = { model: 'mock/gpt', messages: [{ role: 'user', content: 'Hi' }] };
export const STREAM: JsonObject = { stream: true, stream_options: { include_usage: true } };
const LOGGED_WITHIN_MS = 20;

/** Starts a simulator, a gate and an account with 50 dollars. */
export async function startCaller(options: Omit<GateOptions, 'simulator'>): Promise<Caller> {
  const simulator = await startOpenAiSimulator();
  const gate = await startGate({ simulator, ...options });
  const key = await gate.makeKey({ creditUsd: '50', rpm: 100_000 });
  let balanceNanos = key.creditNanos;

  const chargedNanos = async (): Promise<bigint> => {
    const before = balanceNanos;
    balanceNanos = await gate.settledBalance(key);
    return before - balanceNanos;
  };
  const askAll = async (behaviour: Behaviour, bodies: readonly JsonObject[]): Promise<{ answers: Answer[] } & Outcome> => {
    simulator.always(behaviour);
    const linesBefore = gate.logLines().length;
    const answers = await Promise.all(bodies.map((body) => post(gate, key, { ...CHAT, ...body })));
    await Bun.sleep(LOGGED_WITHIN_MS);
    for (const secret of [simulator.apiKey, key.secret]) {
      for (const { text } of answers) expect(text).not.toContain(secret);
      expect(gate.output()).not.toContain(secret);
    }
    return { answers, chargedNanos: await chargedNanos(), logged: () => gate.logLines().slice(linesBefore) };
  };
  return {
    simulator,
    gate,
    key,
    chargedNanos,
    async askBoth(behaviour, body = {}) {
      const { answers, ...outcome } = await askAll(behaviour, [body, { ...STREAM, ...body }]);
      const [json, streamed] = answers as [Answer, Answer];
      return { json, streamed, ...outcome };
    },
    async ask(behaviour, body = {}) {
      const { answers, ...outcome } = await askAll(behaviour, [body]);
      return { ...(answers[0] as Answer), ...outcome };
    },
    async stop() {
      await gate.stop();
      await simulator.stop();
    },
  };
}

async function post(gate: Gate, key: TestKey, body: JsonObject): Promise<Answer> {
  const response = await fetch(`${gate.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.headers.get('x-request-id')).toMatch(/^\S+$/u);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Returns the error of a refusal. It must have all four fields. */
export function readError(text: string): JsonObject {
  const { error } = JSON.parse(text) as { error: JsonObject };
  expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
  expect(error['message']).toBeString();
  return error;
}

/** Returns the JSON events of a stream, without comments and `[DONE]`. */
export function readEvents(text: string): JsonObject[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice(6)) as JsonObject);
}

/** Returns the text that the events of a stream add up to. */
export function readContent(events: readonly JsonObject[]): string {
  const choices = events.flatMap((event) => event['choices'] as { delta: { content?: string } }[]);
  return choices.map((choice) => choice.delta.content ?? '').join('');
}
