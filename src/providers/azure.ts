import { objectOf, type ChatRequest } from '../openai/types.ts';
import type { Host, MessageQuirks, RequestQuirks } from './host.ts';
import { OPENAI_MESSAGES, OPENAI_MODELS } from './hosts/openai-models.ts';
import { openai, readFault } from './openai.ts';
import { ProviderFault, type Provider, type ReplyContext, type Target, type UpstreamRequest } from './provider.ts';

/**
 * Azure OpenAI: the relayed dialect at addresses of its own. Without a version, or with one that is not a date, requests go
 * to the v1 API, with the deployment as the model; with a dated version to the deployment's own address.
 */
export const azure: Provider = {
  encodeRequest,
  decodeReply: (text, context) => openai.decodeReply(text, asAzure(context)),
  // Its first chunk has no choices, an empty id and no model; the relay shows callers only chunks with choices.
  decodeStream: (context) => openai.decodeStream(asAzure(context)),
  decodeFault,
  givesChoices: true,
};

/** Stores of the operator's would be opened with the rights of its resource, and read by models that nobody has a price for. */
const drops = ['data_sources'];

const AZURE: Host = {
  name: 'Azure OpenAI',
  baseUrl: '',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  request: { drops, renames: { max_tokens: 'max_completion_tokens' }, cacheMarks: 'none', messages: OPENAI_MESSAGES },
  // A deployment that is called like its model is taken for it.
  models: OPENAI_MODELS,
};

const DATED = /^\d{4}-\d{2}-\d{2}/u;
const OLD_ROLES: MessageQuirks = { ...OPENAI_MESSAGES, roles: { developer: 'system' } };
/** What versions before a date want, the oldest first. */
const OLDER: readonly (readonly [before: string, request: RequestQuirks])[] = [
  [
    '2024-09-01',
    { drops, renames: { max_completion_tokens: 'max_tokens' }, omits: ['stream_options'], cacheMarks: 'none', messages: OLD_ROLES },
  ],
  ['2024-12-01', { ...AZURE.request, messages: OLD_ROLES }],
];

function encodeRequest(chat: ChatRequest, target: Target): UpstreamRequest {
  const relayed = openai.encodeRequest(chat, { ...target, host: hostOf(target.apiVersion) });
  const { accept, 'content-type': contentType } = relayed.headers;
  return {
    ...relayed,
    url: addressOf(target),
    headers: { 'content-type': contentType ?? '', accept: accept ?? '', ...credentialsOf(target) },
  };
}

/** The address may be given with or without the part that all requests share. */
function addressOf({ baseUrl, apiVersion, model }: Target): string {
  const root = baseUrl.replace(/\/openai(?:\/v1)?$/u, '');
  if (apiVersion !== undefined && DATED.test(apiVersion)) {
    return `${root}/openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=${encodeURIComponent(apiVersion)}`;
  }
  const query = apiVersion === undefined ? '' : `?api-version=${encodeURIComponent(apiVersion)}`;
  return `${root}/openai/v1/chat/completions${query}`;
}

/** A token of Entra is three parts of base64 with dots between them; a key never has a dot. */
function credentialsOf({ apiKey }: Target): Record<string, string> {
  if (apiKey === undefined) return {};
  return /^[\w-]+\.[\w-]+\.[\w-]+$/u.test(apiKey) ? { authorization: `Bearer ${apiKey}` } : { 'api-key': apiKey };
}

function hostOf(version: string | undefined): Host {
  if (version === undefined || !DATED.test(version)) return AZURE;
  const request = OLDER.find(([before]) => version.slice(0, before.length) < before)?.[1];
  return request === undefined ? AZURE : { ...AZURE, request };
}

function asAzure(context: ReplyContext): ReplyContext {
  return { ...context, host: AZURE };
}

/** A prompt that a filter blocked is told with the categories that it was blocked for. */
function decodeFault(text: string, status: number | undefined, header: (name: string) => string | null): ProviderFault {
  const fault = readFault(text, status);
  const milliseconds = Number(header('retry-after-ms') ?? Number.NaN);
  const isBlocked = fault.code === 'content_filter';
  const categories = isBlocked ? blockedCategories(text) : [];
  return new ProviderFault(categories.length === 0 ? fault.message : `${fault.message} (blocked: ${categories.join(', ')})`, {
    status: fault.status,
    code: fault.code,
    // Azure says 'prompt', which is no field of a chat.
    param: isBlocked ? 'messages' : fault.param,
    retryAfterSeconds: Number.isFinite(milliseconds) ? Math.ceil(milliseconds / 1000) : undefined,
  });
}

function blockedCategories(text: string): string[] {
  const { error } = objectOf(JSON.parse(text));
  const { innererror: inner } = objectOf(error);
  const results = objectOf(objectOf(inner)['content_filter_result']);
  return Object.keys(results).filter((name) => objectOf(results[name])['filtered'] === true);
}
