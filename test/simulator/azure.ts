import { respond, type Recorded } from './recorded.ts';

type JsonObject = Record<string, unknown>;

/** What the simulated deployment does with a valid request. */
export type AzureBehaviour = 'text' | 'prompt_blocked' | 'answer_blocked' | 'late_filter' | 'throttled' | 'error_in_stream';

/** A scripted Azure OpenAI on loopback: the v1 API, and deployments under a dated version. */
export interface AzureSimulator {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** An Entra token that it also accepts. */
  readonly token: string;
  readonly deployment: string;
  readonly requests: readonly { readonly path: string; readonly body: JsonObject }[];
  behave(behaviour: AzureBehaviour | Recorded): void;
  stop(): Promise<void>;
}

const FIELDS = `model messages max_completion_tokens temperature top_p n stream stream_options stop presence_penalty
  frequency_penalty logit_bias logprobs top_logprobs seed user tools tool_choice parallel_tool_calls response_format
  reasoning_effort data_sources`.split(/\s+/u);
const ENVELOPE = { id: 'chatcmpl-azure', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'gpt-5-2026-08-01' };
const FILTER = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: true, severity: 'high' } };
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

/** Starts the simulator on a free port of 127.0.0.1. */
export function startAzureSimulator(): AzureSimulator {
  const apiKey = crypto.randomUUID().replaceAll('-', '');
  const token = 'eyJhbGciOi.eyJhdWQiOi.c2lnbmF0dXJl';
  const deployment = 'our gpt/5';
  const requests: { path: string; body: JsonObject }[] = [];
  let behaviour: AzureBehaviour | Recorded = 'text';
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const isKnown = request.headers.get('api-key') === apiKey || request.headers.get('authorization') === `Bearer ${token}`;
      if (!isKnown) return refuse(401, { code: '401', message: 'Access denied due to invalid subscription key.' });
      const body = (await request.json()) as JsonObject;
      requests.push({ path: `${url.pathname}${url.search}`, body });
      const version = url.searchParams.get('api-version');
      const complaint = complaintAbout(url.pathname, version, { body, deployment });
      if (complaint !== undefined) return complaint;
      if (typeof behaviour !== 'string') return respond(behaviour, 'chat', body['stream'] === true);
      return answer(behaviour, body['stream'] === true);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    apiKey,
    token,
    deployment,
    requests,
    behave: (next) => void (behaviour = next),
    stop: () => server.stop(true),
  };
}

function complaintAbout(
  path: string,
  version: string | null,
  { body, deployment }: { body: JsonObject; deployment: string },
): Response | undefined {
  const isClassic = path.startsWith('/openai/deployments/');
  const named = isClassic ? decodeURIComponent(path.split('/')[3] ?? '') : body['model'];
  if (!isClassic && path !== '/openai/v1/chat/completions') return refuse(404, { code: '404', message: 'Resource not found' });
  if (isClassic && version === null) return refuse(404, { code: '404', message: 'Resource not found' });
  if (named !== deployment)
    return refuse(404, { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' });
  const isOld = isClassic && (version ?? '') < '2024-09-01';
  const known = isOld
    ? FIELDS.map((name) => (name === 'max_completion_tokens' ? 'max_tokens' : name)).filter((name) => name !== 'stream_options')
    : FIELDS;
  const unknown = Object.keys(body).find((name) => !known.includes(name));
  if (unknown !== undefined) return refuse(400, { code: null, message: `Unrecognized request argument supplied: ${unknown}` });
  const roles = (body['messages'] as JsonObject[]).map((message) => message['role']);
  if (isOld && roles.includes('developer')) return refuse(400, { code: null, message: "'developer' is not one of the roles" });
  return undefined;
}

function refuse(status: number, error: JsonObject, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers });
}

function answer(behaviour: AzureBehaviour, isStreaming: boolean): Response {
  if (behaviour === 'prompt_blocked') {
    const innererror = { code: 'ResponsibleAIPolicyViolation', content_filter_result: FILTER };
    return refuse(400, {
      message: 'The response was filtered.',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror,
    });
  }
  if (behaviour === 'throttled')
    return refuse(
      429,
      { code: '429', message: 'Requests have exceeded the rate limit.' },
      { 'retry-after-ms': '2500', 'retry-after': '3' },
    );
  return isStreaming ? streamed(behaviour) : whole(behaviour);
}

function whole(behaviour: AzureBehaviour): Response {
  const isBlocked = behaviour === 'answer_blocked';
  const message = isBlocked ? { role: 'assistant' } : { role: 'assistant', content: 'Hello', refusal: null };
  const choices = [
    { index: 0, message, finish_reason: isBlocked ? 'content_filter' : 'stop', content_filter_results: isBlocked ? FILTER : {} },
  ];
  return Response.json({ ...ENVELOPE, object: 'chat.completion', choices, prompt_filter_results: [], usage: USAGE });
}

const chunk = (choices: readonly JsonObject[], more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ ...ENVELOPE, choices, ...more })}\n\n`;

function streamed(behaviour: AzureBehaviour): Response {
  const finish = behaviour === 'answer_blocked' ? 'content_filter' : 'stop';
  const notes = {
    index: 0,
    finish_reason: null,
    content_filter_results: {},
    content_filter_offsets: { check_offset: 0, start_offset: 0, end_offset: 5 },
  };
  const events = [
    chunk([], { id: '', model: '', created: 0, prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] }),
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
    chunk([{ index: 0, delta: { content: 'Hello' }, finish_reason: null, content_filter_results: {} }]),
    ...(behaviour === 'error_in_stream' ? [`data: ${JSON.stringify({ error: { code: '503', message: 'Overloaded' } })}\n\n`] : []),
    ...(behaviour === 'late_filter' ? [chunk([notes])] : []),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    ...(behaviour === 'late_filter' ? [chunk([notes])] : []),
    chunk([], { usage: USAGE }),
    'data: [DONE]\n\n',
  ];
  return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } });
}
