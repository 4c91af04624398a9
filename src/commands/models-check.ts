import { Catalog, type Model, type Route } from '../catalog/catalog.ts';
import { loadConfig, type Config, type ProviderConfig } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { tryRoute, type Trial } from '../gateway/try-route.ts';
import { HttpClient } from '../http/client.ts';
import { findProblems, type Problem } from './catalog-problems.ts';
import { print, showProgress, type JsonOption } from './session.ts';
import { alignColumns, sayCount } from './text.ts';

/** Kept low because providers have rate limits. */
const CALLS_AT_ONCE = 4;
const CALL_TIMEOUT_MS = 30_000;

interface CheckOptions extends JsonOption {
  readonly live?: boolean;
}

/** One route of one model, with the results of its checks. */
interface Row {
  readonly model: Model;
  readonly route: Route;
  readonly problems: readonly Problem[];
  readonly provider: ProviderConfig | undefined;
  trial?: Trial;
}

type Status = 'failed' | 'warning' | 'off' | 'ready' | 'ok';

/** `models check`: checks the whole catalogue, and with `--live` calls every route once. */
export async function checkModels(options: CheckOptions): Promise<void> {
  const config = loadConfig(process.env);
  const discovered =
    options.live === true ? await discoverModels(config) : { models: new Map<string, Model[]>(), failed: new Map<string, string>() };
  const rows = readRows(
    config,
    [...discovered.models].flatMap(([, models]) => models),
  );
  if (options.live === true) await tryRows(config, rows, options);
  const isOk = discovered.failed.size === 0 && rows.every((row) => statusOf(row) !== 'failed');
  const providers = [
    ...config.incompleteHosts.map(({ id, missing }) => ({
      provider: id,
      message: `stays off until ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} set`,
    })),
    ...[...discovered.failed].map(([provider, reason]) => ({ provider, message: `its models could not be read: ${reason}` })),
  ];
  print({ ok: isOk, routes: rows.map(describe), providers }, options, [
    ...formatTable(rows.filter((row) => statusOf(row) !== 'off')),
    ...providers.map(({ provider, message }) => `${provider}: ${message}`),
    summarize(rows),
  ]);
  if (!isOk) process.exitCode = 1;
}

function readRows(config: Config, discovered: readonly Model[]): Row[] {
  const models = [...config.models, ...new Catalog(config.models, () => true).excludeSold(discovered)];
  const problems = Map.groupBy(findProblems(config, models), ({ model }) => model);
  return models.flatMap((model) =>
    model.routes.map((route, index) => ({
      model,
      route,
      // Problems of the model as a whole are reported with its first route.
      problems: (problems.get(model.id) ?? []).filter((problem) => (problem.route ?? 0) === index),
      provider: config.providers.get(route.provider),
    })),
  );
}

/** Calls every route whose provider is on, a few at a time. */
async function tryRows(config: Config, rows: readonly Row[], options: JsonOption): Promise<void> {
  const client = new HttpClient();
  const timeoutMs = Math.min(CALL_TIMEOUT_MS, config.timeouts.answerMs);
  const waiting = rows.filter((row) => row.provider !== undefined);
  const total = waiting.length;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const { model, route, provider } = row;
      if (provider !== undefined) row.trial = await tryRoute({ client, model, route, provider, timeoutMs });
      done += 1;
      showProgress(`${done} of ${total} routes tried`, options);
    }
  };
  showProgress(`0 of ${total} routes tried`, options);
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, work));
  showProgress('', options);
  client.close();
}

function statusOf({ problems, provider, trial }: Row): Status {
  if (trial?.hasAnswered === false || problems.some(({ severity }) => severity === 'error')) return 'failed';
  // Warnings do not matter while the provider is off; errors do.
  if (provider === undefined) return 'off';
  if (problems.length > 0) return 'warning';
  return trial === undefined ? 'ready' : 'ok';
}

function messageOf({ problems, trial }: Row): string {
  const trialMessages = trial === undefined || trial.message === '' ? [] : [trial.message];
  return [...trialMessages, ...problems.map(({ message }) => message)].join('; ');
}

function describe(row: Row): Record<string, unknown> {
  const { model, route, provider, trial } = row;
  return {
    model: model.id,
    provider: route.provider,
    route: route.model,
    status: statusOf(row),
    on: provider !== undefined,
    ms: trial?.durationMs ?? null,
    input_tokens: trial?.inputTokens ?? null,
    output_tokens: trial?.outputTokens ?? null,
    message: messageOf(row),
  };
}

const HEAD = ['MODEL', 'PROVIDER', 'ROUTE', 'STATUS', 'MS', 'TOKENS', 'MESSAGE'];

function formatTable(rows: readonly Row[]): string[] {
  const cells = rows.map((row) => {
    const { model, route, trial } = row;
    const tokens = trial?.inputTokens === undefined ? '' : `${trial.inputTokens}+${trial.outputTokens}`;
    return [model.id, route.provider, route.model, statusOf(row), String(trial?.durationMs ?? ''), tokens, messageOf(row)];
  });
  return rows.length === 0 ? [] : alignColumns([HEAD, ...cells]);
}

function summarize(rows: readonly Row[]): string {
  const counts = Map.groupBy(rows, statusOf);
  const parts = (['ok', 'ready', 'warning', 'failed', 'off'] as const).flatMap((status) => {
    const count = counts.get(status)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  const models = new Set(rows.map(({ model }) => model.id)).size;
  return `${sayCount(models, 'model')}, ${sayCount(rows.length, 'route')}: ${parts.join(', ')}.`;
}
