import { startAnthropicSimulator, type AnthropicSimulator } from './anthropic.ts';
import { startBedrockSimulator, type BedrockSimulator } from './bedrock.ts';
import { describeModel, startGate, type Gate, type GateOptions } from './gate.ts';
import { startGeminiSimulator, type GeminiSimulator } from './gemini.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from './openai.ts';
import type { JsonObject } from './wire.ts';

/** The real server in front of one simulator for each dialect that returns one choice per request. */
export interface TranslatedGate {
  readonly gate: Gate;
  readonly openai: OpenAiSimulator;
  readonly anthropic: AnthropicSimulator;
  readonly gemini: GeminiSimulator;
  readonly bedrock: BedrockSimulator;
  /** Restarts the server on the same data. The returned `gate` is the new one. */
  restart(): Promise<TranslatedGate>;
  reset(): void;
  stop(): Promise<void>;
}

/** The models by the simulator that answers them. `single` is a host of the relayed dialect that does not support `n`. */
export const MODELS = { anthropic: 'mock/claude', gemini: 'mock/gemini', bedrock: 'mock/converse', single: 'mock/single' } as const;

/** Other models of the same providers, for conversations that change their model. */
export const OTHER_MODELS = { anthropic: 'mock/other-claude', gemini: 'mock/other-gemini', bedrock: 'mock/other-converse' } as const;

/** Models sold with searches. */
export const SEARCHING_MODELS = {
  anthropic: 'mock/searching-claude',
  gemini: 'mock/searching-gemini',
  bedrock: 'mock/searching-converse',
  relayed: 'mock/searching',
} as const;

const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const LONG_PRICE = { ...PRICE, long: { over: 40, input: 5, output: 20 } };

/** Starts the simulators and the server. */
export async function startTranslatedGate(options: Partial<GateOptions> = {}): Promise<TranslatedGate> {
  const openai = await startOpenAiSimulator();
  const anthropic = startAnthropicSimulator({ demandsStreams: true });
  const gemini = startGeminiSimulator();
  const bedrock = startBedrockSimulator();
  const settings: GateOptions = {
    ...options,
    simulator: openai,
    providers: {
      claude: { dialect: 'anthropic', base_url: anthropic.baseUrl, api_key: anthropic.apiKey },
      google: { dialect: 'gemini', base_url: gemini.baseUrl, api_key: gemini.apiKey },
      amazon: { dialect: 'bedrock', base_url: bedrock.baseUrl, api_key: bedrock.apiKey },
      single: { like: 'cerebras', base_url: openai.baseUrl, api_key: openai.apiKey },
      perplexity: { like: 'perplexity', base_url: openai.baseUrl, api_key: openai.apiKey },
    },
    models: [
      routed(MODELS.anthropic, 'claude', 'claude-sonnet-4-5'),
      routed('mock/claude-adaptive', 'claude', 'claude-opus-5'),
      routed(MODELS.gemini, 'google', 'gemini-3.1-pro-preview'),
      routed(MODELS.bedrock, 'amazon', 'anthropic.claude-sonnet-4-5-v1:0'),
      routed(OTHER_MODELS.anthropic, 'claude', 'claude-opus-4-5'),
      routed(OTHER_MODELS.gemini, 'google', 'gemini-3.6-flash'),
      routed(OTHER_MODELS.bedrock, 'amazon', 'eu.anthropic.claude-opus-4-5-v1:0'),
      { ...routed('mock/long-claude', 'claude', 'claude-sonnet-4-5'), max_output_tokens: 64_000 },
      routed('mock/gemini-2', 'google', 'gemini-2.0-flash'),
      searching(routed(SEARCHING_MODELS.anthropic, 'claude', 'claude-opus-5')),
      searching(routed(SEARCHING_MODELS.gemini, 'google', 'gemini-3.6-flash')),
      searching(routed(SEARCHING_MODELS.bedrock, 'amazon', 'anthropic.claude-sonnet-4-5-v1:0')),
      searching(routed(SEARCHING_MODELS.relayed, 'mock', 'gpt-x')),
      routed('mock/sonar', 'perplexity', 'sonar-pro'),
      routed(MODELS.single, 'single', 'gpt-x'),
      { ...routed('mock/long', 'single', 'gpt-x'), price: LONG_PRICE },
      {
        ...routed('mock/fallback', 'single', 'gpt-x'),
        routes: [
          { provider: 'single', model: 'gpt-x' },
          { provider: 'mock', model: 'gpt-other' },
        ],
      },
    ],
  };
  const opened = { openai, anthropic, gemini, bedrock };
  return withGate(await startGate(settings), settings, opened);
}

function searching(model: JsonObject): JsonObject {
  return { ...model, features: ['tools', 'web_search'] };
}

function routed(id: string, provider: string, model: string): JsonObject {
  return { ...describeModel(id, provider, PRICE), routes: [{ provider, model }] };
}

type Simulators = Pick<TranslatedGate, 'openai' | 'anthropic' | 'gemini' | 'bedrock'>;

function withGate(gate: Gate, settings: GateOptions, simulators: Simulators): TranslatedGate {
  const { openai, anthropic, gemini, bedrock } = simulators;
  return {
    ...simulators,
    gate,
    async restart() {
      await gate.terminate();
      const env = { ...settings.env, TOLLGATE_DATA: gate.dataFolder };
      return withGate(await startGate({ ...settings, env }), settings, simulators);
    },
    reset() {
      for (const simulator of [openai, anthropic, gemini]) simulator.reset();
      bedrock.behave('text');
    },
    async stop() {
      await gate.stop();
      await Promise.all([openai, anthropic, gemini, bedrock].map((simulator) => simulator.stop()));
    },
  };
}
