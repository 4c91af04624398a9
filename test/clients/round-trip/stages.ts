import type { JsonObject } from '../../../src/openai/types.ts';
import { HOSTS } from '../../../src/providers/hosts.ts';
import { startAnthropicSimulator } from '../../simulator/anthropic.ts';
import { startAzureSimulator } from '../../simulator/azure.ts';
import { startBedrockSimulator } from '../../simulator/bedrock.ts';
import { startCompatibleSimulator } from '../../simulator/compatible.ts';
import { startGeminiSimulator } from '../../simulator/gemini.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../../simulator/openai.ts';
import type { Recorded } from '../../simulator/recorded.ts';
import { AZURE, composeChat, DEEPSEEK, MISTRAL, OPENAI, type ChatAccent } from '../../simulator/speech/chat.ts';
import { composeConverse } from '../../simulator/speech/converse.ts';
import { composeGenerateContent } from '../../simulator/speech/generate-content.ts';
import { composeMessages } from '../../simulator/speech/messages.ts';
import { REFUSAL, type Speech } from '../../simulator/speech/speech.ts';
import type { SaidChoice } from '../conversation.ts';
import type { SceneName, Seen } from './scenes.ts';
import { seeChat, seeConverse, seeGenerateContent, seeMessages } from './sight.ts';

/** One column of the table: a dialect at a provider, and its limitations. */
export interface Stage {
  readonly name: string;
  /** The entry under `providers` in tollgate.yaml. */
  readonly settings: JsonObject;
  /** The model's name there. */
  readonly model: string;
  /** The longest answer, where it matters: some providers return whole answers that may be very long only as streams. */
  readonly outputTokensMax?: number;
  compose(speech: Speech, scene: SceneName): Recorded;
  /** Answers every valid request with this from now on. */
  play(recorded: Recorded): void;
  lastBody(): JsonObject;
  see(body: JsonObject): Seen;
  /** An error inside a stream, and errors instead of an answer, as the provider spells them. */
  readonly errorEvent: JsonObject;
  errorBody(error: { readonly status: number; readonly message: string }): Pick<Recorded, 'body' | 'headers'>;
  readonly refusal: Partial<SaidChoice>;
  readonly lacks: {
    /** Its reasoning is never shown. */
    readonly shownReasoning?: true;
    /** Its reasoning is not counted separately. */
    readonly countedReasoning?: true;
    /** It does not report cache writes. */
    readonly cacheWrites?: true;
    /** Its tool calls have no ids, so ours are used. */
    readonly callIds?: true;
    /** It returns one choice per request. Several choices are several requests, each with its own usage. */
    readonly choices?: true;
  };
  /** Cells that do not work yet, with the reason. A cell that works anyway fails, so that its reason is removed. */
  readonly pending: Partial<Record<SceneName, string>>;
}

/** The simulators, and the columns that use them. */
export interface Theatre {
  readonly openai: OpenAiSimulator;
  readonly stages: readonly Stage[];
  close(): Promise<void>;
}

/** Starts every simulator once. */
export async function openTheatre(): Promise<Theatre> {
  const openai = await startOpenAiSimulator();
  const azure = startAzureSimulator();
  const claude = startAnthropicSimulator({ demandsStreams: true });
  const gemini = startGeminiSimulator();
  const bedrock = startBedrockSimulator();
  const mistral = startCompatibleSimulator(HOSTS['mistral'] ?? missingHost());
  const deepseek = startCompatibleSimulator(HOSTS['deepseek'] ?? missingHost());

  const { accessKeyId, secretAccessKey, sessionToken, region } = bedrock.signer;
  const onClaude = {
    ...CLAUDE,
    play: (reply: Recorded) => claude.always({ type: 'recorded', reply }),
    lastBody: () => claude.requests.at(-1)?.body ?? {},
  };
  const onGemini = {
    ...GEMINI,
    play: (reply: Recorded) => gemini.always({ type: 'recorded', reply }),
    lastBody: () => gemini.requests.at(-1)?.body ?? {},
  };
  const onBedrock = { ...BEDROCK, play: (reply: Recorded) => bedrock.behave(reply), lastBody: () => bedrock.requests.at(-1)?.body ?? {} };
  return {
    openai,
    stages: [
      {
        ...relayed('openai', OPENAI),
        settings: { like: 'openai', base_url: openai.baseUrl, api_key: openai.apiKey },
        play: (reply) => openai.always({ type: 'recorded', reply }),
        lastBody: () => openai.requests.at(-1)?.body ?? {},
        refusal: { refusal: REFUSAL, finish: 'stop' },
        lacks: { shownReasoning: true },
      },
      {
        ...relayed('azure', AZURE),
        settings: { dialect: 'azure', base_url: azure.baseUrl, api_key: azure.apiKey },
        model: azure.deployment,
        play: (reply) => azure.behave(reply),
        lastBody: () => azure.requests.at(-1)?.body ?? {},
        refusal: { finish: 'content_filter' },
        lacks: { shownReasoning: true },
      },
      {
        ...onClaude,
        name: 'anthropic',
        settings: { dialect: 'anthropic', base_url: claude.baseUrl, api_key: claude.apiKey },
        model: 'claude-opus-5',
        compose: (speech) => composeMessages(speech),
      },
      {
        ...onClaude,
        name: 'anthropic at length',
        settings: { dialect: 'anthropic', base_url: claude.baseUrl, api_key: claude.apiKey },
        model: 'claude-opus-5',
        outputTokensMax: 128_000,
        compose: (speech) => composeMessages(speech),
      },
      {
        ...onClaude,
        name: 'anthropic-vertex',
        settings: { dialect: 'anthropic-vertex', base_url: claude.vertexBaseUrl, api_key: claude.apiKey },
        model: 'claude-haiku-5-5',
        compose: (speech, scene) => composeMessages(speech, scene === 'json_schema' ? 'answer_in_json' : undefined),
      },
      { ...onGemini, name: 'gemini', settings: { dialect: 'gemini', base_url: gemini.baseUrl, api_key: gemini.apiKey } },
      {
        ...onGemini,
        name: 'gemini-vertex',
        settings: { dialect: 'gemini-vertex', base_url: gemini.vertexBaseUrl, api_key: gemini.apiKey },
      },
      { ...onBedrock, name: 'bedrock by key', settings: { dialect: 'bedrock', base_url: bedrock.baseUrl, api_key: bedrock.apiKey } },
      {
        ...onBedrock,
        name: 'bedrock signed',
        settings: {
          dialect: 'bedrock',
          base_url: bedrock.baseUrl,
          access_key_id: accessKeyId,
          secret_access_key: secretAccessKey,
          session_token: sessionToken,
          region,
        },
      },
      {
        ...relayed('mistral', MISTRAL),
        settings: { like: 'mistral', base_url: mistral.baseUrl, api_key: 'key' },
        play: (reply) => mistral.play(reply),
        lastBody: () => mistral.requests.at(-1) ?? {},
        refusal: { content: REFUSAL, finish: 'stop' },
        lacks: { countedReasoning: true, cacheWrites: true },
      },
      {
        ...relayed('deepseek', DEEPSEEK),
        settings: { like: 'deepseek', base_url: deepseek.baseUrl, api_key: 'key' },
        play: (reply) => deepseek.play(reply),
        lastBody: () => deepseek.requests.at(-1) ?? {},
        refusal: { finish: 'content_filter' },
        lacks: { cacheWrites: true, choices: true },
        pending: {},
      },
    ],
    async close() {
      await Promise.all([openai, azure, claude, gemini, bedrock, mistral, deepseek].map((simulator) => simulator.stop()));
    },
  };
}

function missingHost(): never {
  throw new Error('the host is no longer in the table');
}

type Shared = 'name' | 'model' | 'compose' | 'see' | 'errorEvent' | 'errorBody' | 'pending';

function relayed(name: string, accent: ChatAccent): Pick<Stage, Shared> {
  return {
    name,
    model: 'gpt-x',
    compose: (speech) => composeChat(speech, accent),
    see: seeChat,
    errorEvent: { error: { message: 'Overloaded', type: 'server_error', param: null, code: null } },
    errorBody: ({ message }) => ({ body: JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }) }),
    pending: {},
  };
}

const CLAUDE: Pick<Stage, 'see' | 'errorEvent' | 'errorBody' | 'refusal' | 'lacks' | 'pending'> = {
  see: seeMessages,
  errorEvent: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  errorBody: ({ status, message }) => ({
    body: JSON.stringify({ type: 'error', error: { type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', message } }),
  }),
  refusal: { refusal: REFUSAL, finish: 'content_filter' },
  lacks: { choices: true },
  pending: {},
};

const GEMINI: Pick<Stage, Exclude<Shared, 'name'> | 'refusal' | 'lacks'> = {
  model: 'gemini-3.6-flash',
  compose: composeGenerateContent,
  see: seeGenerateContent,
  errorEvent: { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
  errorBody: ({ status, message }) => ({
    body: JSON.stringify({ error: { code: status, message, status: status === 429 ? 'RESOURCE_EXHAUSTED' : 'INVALID_ARGUMENT' } }),
  }),
  refusal: { finish: 'content_filter' },
  lacks: { cacheWrites: true, callIds: true, choices: true },
  pending: {},
};

const BEDROCK: Pick<Stage, Exclude<Shared, 'name'> | 'refusal' | 'lacks'> = {
  model: 'anthropic.claude-sonnet-4-5-v1:0',
  compose: composeConverse,
  see: seeConverse,
  errorEvent: { modelStreamErrorException: { message: 'The model failed.' } },
  errorBody: ({ status, message }) => ({
    body: JSON.stringify({ message }),
    headers: { 'x-amzn-errortype': status === 429 ? 'ThrottlingException' : 'ValidationException' },
  }),
  refusal: { content: REFUSAL, finish: 'content_filter' },
  lacks: { countedReasoning: true, choices: true },
  pending: {},
};
