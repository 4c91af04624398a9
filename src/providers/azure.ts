import { objectOf, type ChatRequest } from '../openai/types.ts';
import type { Host, MessageQuirks, RequestQuirks } from './host.ts';
import { OPENAI_MESSAGES, OPENAI_MODELS } from './hosts/openai-models.ts';
import { openai } from './openai.ts';
import { readFault } from './read-fault.ts';
import { ProviderFault, type Dialect, type ReplyContext, type Target, type UpstreamRequest } from './dialect.ts';

/**
 * Azure OpenAI: the relayed dialect at Azure's addresses. Without a version, or with an undated one, requests go to the
 * v1 API with the deployment as the model. With a dated version they go to the deployment's own address.
 */
export const azure: Dialect = {
  encodeRequest,
  decodeReply: (text, context) => openai.decodeReply(text, asAzure(context)),
  // Azure's first chunk has no choices, an empty id and no model. The relay forwards only chunks with choices.
  decodeStream: (context) => openai.decodeStream(asAzure(context)),
  decodeFault,
  givesChoices: true,
};

/**
 * Data sources would be opened with the rights of the operator's resource, and read by models that have no price. The
 * retention of cached prompts cannot be chosen on Azure.
 */
const drops = ['data_sources', 'prompt_cache_retention'];

const AZURE: Host = {
  name: 'Azure OpenAI',
  baseUrl: '',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  request: { drops, renames: { max_tokens: 'max_completion_tokens' }, cacheMarks: 'none', messages: OPENAI_MESSAGES },
  // A deployment named after a model is treated as that model.
  models: OPENAI_MODELS,
};

const DATED = /^\d{4}-\d{2}-\d{2}/u;
const OLD_ROLES: MessageQuirks = { ...OPENAI_MESSAGES, roles: { developer: 'system' } };
/** What versions before each date require, oldest first. */
const OLDER_VERSIONS: readonly (readonly [before: string, request: RequestQuirks])[] = [
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

/** Accepts a base URL with or without the `/openai` or `/openai/v1` suffix. */
function addressOf({ baseUrl, apiVersion, model }: Target): string {
  const root = baseUrl.replace(/\/openai(?:\/v1)?$/u, '');
  if (apiVersion !== undefined && DATED.test(apiVersion)) {
    return `${root}/openai/deployments/${encodeURIComponent(model)}/chat/completions?api-version=${encodeURIComponent(apiVersion)}`;
  }
  const query = apiVersion === undefined ? '' : `?api-version=${encodeURIComponent(apiVersion)}`;
  return `${root}/openai/v1/chat/completions${query}`;
}

/** Tells Entra tokens from keys: a token is three base64 parts joined by dots, and a key has no dots. */
function credentialsOf({ apiKey }: Target): Record<string, string> {
  if (apiKey === undefined) return {};
  return /^[\w-]+\.[\w-]+\.[\w-]+$/u.test(apiKey) ? { authorization: `Bearer ${apiKey}` } : { 'api-key': apiKey };
}

function hostOf(version: string | undefined): Host {
  if (version === undefined || !DATED.test(version)) return AZURE;
  const request = OLDER_VERSIONS.find(([before]) => version.slice(0, before.length) < before)?.[1];
  return request === undefined ? AZURE : { ...AZURE, request };
}

function asAzure(context: ReplyContext): ReplyContext {
  return { ...context, host: AZURE };
}

/** Reads an error. For a prompt blocked by a content filter, the message lists the categories that triggered it. */
function decodeFault(text: string, status: number | undefined): ProviderFault {
  const fault = readFault(text, status);
  const isBlocked = fault.code === 'content_filter';
  const categories = isBlocked ? blockedCategories(text) : [];
  return new ProviderFault(categories.length === 0 ? fault.message : `${fault.message} (blocked: ${categories.join(', ')})`, {
    status: fault.status,
    code: fault.code,
    // Azure names 'prompt', which is not a chat field.
    param: isBlocked ? 'messages' : fault.param,
  });
}

function blockedCategories(text: string): string[] {
  const { error } = objectOf(JSON.parse(text));
  const { innererror: inner } = objectOf(error);
  const results = objectOf(objectOf(inner)['content_filter_result']);
  return Object.keys(results).filter((name) => objectOf(results[name])['filtered'] === true);
}
