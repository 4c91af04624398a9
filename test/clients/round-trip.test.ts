import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { describeModel, startGate, type Gate } from '../simulator/gate.ts';
import { costNanos } from '../simulator/invoice.ts';
import { breakOff } from '../simulator/speech/breaking.ts';
import type { Speech, SpokenTokens } from '../simulator/speech/speech.ts';
import { UsageRows } from '../simulator/usage-rows.ts';
import { countUsage } from '../simulator/wire.ts';
import { ask, type Outcome, type Question, type SaidChoice } from './conversation.ts';
import { SCENES, type Scene, type SceneName } from './round-trip/scenes.ts';
import { openTheatre, type Stage } from './round-trip/stages.ts';

/**
 * Tests every kind of answer from every dialect, whole and streamed, through a running gate. The official client must receive what the
 * model said, and the charge must match what the provider counted.
 */

const theatre = await openTheatre();
const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const QUESTION: Question = { model: '', messages: [{ role: 'user', content: 'Hi' }] };
const MESSAGES = { throttled: 'Too many requests.', refused: 'This request is not to our liking.' };

let gate: Gate;
let client: OpenAI;
let rows: UsageRows;

beforeAll(async () => {
  const { openai: simulator, stages } = theatre;
  gate = await startGate({
    simulator,
    providers: Object.fromEntries(stages.map((stage) => [idOf(stage), stage.settings])),
    models: stages.map((stage) => ({
      ...describeModel(modelOf(stage), idOf(stage), PRICE),
      ...(stage.outputTokensMax === undefined ? {} : { max_output_tokens: stage.outputTokensMax }),
      routes: [{ provider: idOf(stage), model: stage.model }],
    })),
  });
  const { secret } = await gate.makeKey({ rpm: 100_000, tpm: 100_000_000 });
  client = new OpenAI({ baseURL: gate.baseUrl, apiKey: secret, maxRetries: 0 });
  rows = new UsageRows(gate.dataFolder);
}, 120_000);

afterAll(async () => {
  rows.close();
  await gate.stop();
  await theatre.close();
}, 120_000);

describe.each(Object.keys(SCENES) as SceneName[])('%s', (name) => {
  describe.each(theatre.stages.map((stage) => [stage.name, stage] as const))('%s', (_, stage) => {
    test.each([
      ['whole', false],
      ['streamed', true],
    ] as const)('%s', async (__, isStreaming) => {
      const cell = { name, scene: SCENES[name] as Scene, stage, isStreaming };
      const reason = stage.pending[name];
      if (reason === undefined) await check(cell);
      else await checkPending(cell, reason);
    });
  });
});

interface Cell {
  readonly name: SceneName;
  readonly scene: Scene;
  readonly stage: Stage;
  readonly isStreaming: boolean;
}

async function check(cell: Cell): Promise<void> {
  const outcome = await perform(cell, cell.scene);
  if (cell.scene.fault === undefined) expectAnswer(cell, outcome, cell.scene.speech);
  else expectFailure(cell, outcome);
  if (cell.scene.seen !== undefined) expect(cell.stage.see(cell.stage.lastBody())).toMatchObject(cell.scene.seen);
  if (cell.scene.speech.calls !== undefined) await giveResults(cell, outcome);
}

/** Fails when a pending cell works, so that its reason is removed and it never becomes a silent gap. */
async function checkPending(cell: Cell, reason: string): Promise<void> {
  const works = await check(cell).then(
    () => true,
    () => false,
  );
  expect(works ? `This works now, remove its reason: ${reason}` : 'pending').toBe('pending');
}

/** Sends the results of the tools. The provider must accept the conversation with them. */
async function giveResults(cell: Cell, { choices: [choice] }: Outcome): Promise<void> {
  const calls = choice?.calls ?? [];
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: call.arguments },
  }));
  const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '21 degrees' }));
  const messages = [...QUESTION.messages, { role: 'assistant' as const, content: null, tool_calls }, ...results];
  const { speech } = SCENES.text;
  const scene: Scene = { asked: { ...cell.scene.asked, messages }, speech };
  expectAnswer(cell, await perform(cell, scene), speech);
}

function perform({ name, stage, isStreaming }: Cell, { asked, speech, fault }: Scene): Promise<Outcome> {
  // A provider that returns one choice per request does so however many the client wants.
  const spoken = stage.lacks.choices === true ? { ...speech, choices: 1 } : speech;
  const composed = stage.compose({ ...spoken, tokens: tokensReported(stage, speech) }, name);
  if (fault === undefined) stage.play(composed);
  else if (fault === 'broken') stage.play(breakOff(composed, stage.errorEvent));
  else {
    const error = { status: fault === 'throttled' ? 429 : 400, message: MESSAGES[fault] };
    stage.play({ ...composed, status: error.status, ...stage.errorBody(error) });
  }
  return ask(client, { ...QUESTION, ...asked, model: modelOf(stage) }, isStreaming);
}

function expectAnswer({ stage }: Cell, outcome: Outcome, speech: Speech): void {
  expect(outcome.failure).toBeUndefined();
  expect(outcome.complaints).toEqual([]);
  expect(outcome.model).toBe(modelOf(stage));
  expect(outcome.choices).toHaveLength(speech.choices ?? 1);
  for (const choice of outcome.choices) expectChoice(choice, speech, stage);
  const requests = stage.lacks.choices === true ? (speech.choices ?? 1) : 1;
  expectCharge(stage, outcome, times(tokensSeen(stage, speech), requests));
}

function expectChoice(choice: SaidChoice, speech: Speech, stage: Stage): void {
  const silence = { content: '', reasoning: '', refusal: '' };
  const { calls, ...said } = choice;
  if (speech.end === 'refusal') expect(said).toEqual({ ...silence, finish: 'content_filter', ...stage.refusal });
  else
    expect(said).toEqual({
      ...silence,
      content: speech.text ?? '',
      reasoning: stage.lacks.shownReasoning === true ? '' : (speech.reasoning ?? ''),
      finish: speech.end === 'stop_sequence' ? 'stop' : speech.end,
    });
  const spoken = speech.calls ?? [];
  expect(calls.map((call) => [call.name, JSON.parse(call.arguments) as unknown])).toEqual(spoken.map(({ name, args }) => [name, args]));
  const ids = calls.map(({ id }) => id);
  expect(new Set(ids.filter((id) => id !== '')).size).toBe(spoken.length);
  if (stage.lacks.callIds !== true) expect(ids).toEqual(spoken.map(({ id }) => id));
}

/** Checks that the usage shown to the client, the ledger and the provider's count agree. */
function expectCharge(stage: Stage, { usage, requestId }: Outcome, tokens: SpokenTokens): void {
  const prompt = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  const honest = countUsage({ prompt, cached: tokens.cacheRead, completion: tokens.output });
  const cost = costNanos({ ...honest, prompt_tokens_details: { ...honest.prompt_tokens_details, cache_write_tokens: tokens.cacheWrite } });
  expect(usage).toEqual({
    prompt,
    completion: tokens.output,
    total: prompt + tokens.output,
    cached: tokens.cacheRead,
    written: tokens.cacheWrite,
    reasoning: tokens.reasoning,
    cost: Number(cost) / 1e9,
  });
  expect(rows.find(requestId)).toMatchObject({
    model: modelOf(stage),
    provider: idOf(stage),
    input_tokens: BigInt(tokens.input),
    cached_input_tokens: BigInt(tokens.cacheRead),
    cache_write_tokens: BigInt(tokens.cacheWrite),
    output_tokens: BigInt(tokens.output),
    reasoning_tokens: BigInt(tokens.reasoning),
    is_estimated: 0n,
    cost,
    outcome: 'completed',
  });
}

/** Checks that a failure has the client's class for its status, and costs nothing. */
function expectFailure({ scene: { fault, speech }, isStreaming }: Cell, outcome: Outcome): void {
  const { failure } = outcome;
  if (fault === 'throttled') {
    expect(failure).toBeInstanceOf(OpenAI.RateLimitError);
    expect(failure).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  } else if (fault === 'refused') {
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failure).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining(MESSAGES.refused) as unknown,
    });
  } else if (isStreaming) {
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure).toMatchObject({ type: 'server_error', code: 'provider_error' });
    const [said] = outcome.choices;
    expect(said?.content).not.toBe('');
    expect(speech.text).toStartWith(said?.content ?? '');
  } else {
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError);
    expect(failure).toMatchObject({ status: 500, code: 'provider_error' });
  }
  expect(rows.find(outcome.requestId)).toMatchObject({ cost: 0n, outcome: 'failed' });
}

/** Returns the counts that the provider's report can carry. */
function tokensReported({ lacks }: Stage, { tokens }: Speech): SpokenTokens {
  return { ...tokens, cacheWrite: lacks.cacheWrites === true ? 0 : tokens.cacheWrite };
}

function tokensSeen(stage: Stage, speech: Speech): SpokenTokens {
  const reported = tokensReported(stage, speech);
  return { ...reported, reasoning: stage.lacks.countedReasoning === true ? 0 : reported.reasoning };
}

function times(tokens: SpokenTokens, count: number): SpokenTokens {
  const { input, cacheRead, cacheWrite, output, reasoning } = tokens;
  return {
    input: input * count,
    cacheRead: cacheRead * count,
    cacheWrite: cacheWrite * count,
    output: output * count,
    reasoning: reasoning * count,
  };
}

function idOf({ name }: Stage): string {
  return `on-${name.replaceAll(' ', '-')}`;
}

function modelOf(stage: Stage): string {
  return `round-trip/${idOf(stage)}`;
}
