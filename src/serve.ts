import type { Kysely } from 'kysely';
import { changesSince } from './accounts/changes.ts';
import { Accounts } from './accounts/accounts.ts';
import { KeyUses } from './accounts/key-uses.ts';
import { hasAlerts } from './alerts/rules.ts';
import { prepareFirstStart, type FirstStart } from './accounts/first-start.ts';
import { Keys } from './accounts/keys.ts';
import { Plans } from './accounts/plans.ts';
import { routes } from './app.ts';
import { Carried } from './carried/carried.ts';
import { DisabledProviders } from './catalog/disabled-providers.ts';
import { Catalog, type Model } from './catalog/catalog.ts';
import { closeAll } from './close-all.ts';
import { publicUrlOf, type Config } from './config.ts';
import { connect, type OpenDatabase } from './database/connect.ts';
import { Dashboard } from './dashboard/dashboard.ts';
import type { DashboardSettings, GateQuestion } from './dashboard/messages.ts';
import { openWebFiles } from './dashboard/web-files.ts';
import { prepareSchema } from './database/migrate.ts';
import { lockDataFolder } from './database/sqlite.ts';
import type { Tables } from './database/tables.ts';
import { Discovery } from './discovery.ts';
import { errorBody, errorHeaders, GatewayError, toGatewayError } from './errors.ts';
import { KeyCache } from './gateway/key-cache.ts';
import { limitsOf } from './gateway/admit.ts';
import { closeCounter } from './gateway/count-tokens.ts';
import { finishCalls } from './gateway/finish-calls.ts';
import { TICK_MS } from './gateway/call.ts';
import type { Gate } from './gateway/gate.ts';
import { Overruns } from './gateway/overruns.ts';
import { RouteHealth } from './gateway/route-health.ts';
import { listPrices } from './gateway/price-list.ts';
import { listProviders, tryProvider } from './gateway/provider-list.ts';
import { startHousekeeping } from './housekeeping.ts';
import type { Outgoing } from './http/outgoing.ts';
import { HttpClient } from './http/client.ts';
import { PUBLIC_INTERNET, type Reach } from './http/fetch-media.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { postWebhook } from './http/post-webhook.ts';
import { startServer, type RunningServer } from './http/server.ts';
import { makeId } from './ids.ts';
import { withTimeout } from './with-timeout.ts';
import type { GroupCommitLedger } from './ledger/group-commit.ts';
import { openLedger } from './ledger/open.ts';
import { watchFiles } from './ledger/watch-files.ts';
import { recordPrices } from './ledger/price-versions.ts';
import { AccountPlaces } from './limits/account-places.ts';
import { openLimits } from './limits/open.ts';
import { openLog, type Log } from './observe/log.ts';
import { MemoryWatch } from './observe/memory-watch.ts';
import { openMetrics } from './observe/metrics.ts';
import { openMoneyIn, type MoneyIn } from './payments/open.ts';
import { SANDBOX_PROVIDER } from './providers/sandbox.ts';
import { describeSettings } from './shown-settings.ts';
import { every, type Clock } from './turns.ts';
import { Contents } from './usage/contents.ts';
import { hasReaders } from './usage/history-keeper.ts';
import { Refusals } from './usage/refusals.ts';

/** Well under the second within which a change on the command line must take effect. */
const CHANGES_INTERVAL_MS = 250;
/** Timeout of a running server's database statements. */
const STATEMENT_MS = 60_000;
/** How soon the dashboard's thread starts after somebody has created an alert. */
const WORK_INTERVAL_MS = 15_000;
const STRIPE_REFUSES = 'Stripe refuses STRIPE_SECRET_KEY';
const STRIPE_KEEPS = 'Stripe did not delete the customer of a closed account; retrying in an hour';
const FILES_GONE =
  'the database files were moved, deleted or replaced: new requests are refused. Do not stop the server; see "When the database files are gone" in docs/operations.md';
const FILES_BACK = 'the database files are back: requests are accepted again';
const LAST_READERS_MS = 5000;
/** A little longer than the dashboard and the ledger themselves wait. docs/operations.md documents the sum for supervisors. */
const CLOSE_THREADS_MS = 6000;
const CLOSE_WRITERS_MS = 32_000;
const CLOSE_LINKS_MS = 2000;

/** A running service. */
export interface Service {
  readonly url: string;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly catalog: Catalog;
  readonly log: Log;
  /** Returns the trial key and operator link at the very first start, and undefined afterwards. */
  firstStart(): Promise<FirstStart | undefined>;
  /** Resolves with the reason if the disk fails. Then nothing can be charged until the next start. */
  readonly lost: Promise<unknown>;
  /** Lets running requests finish for up to two minutes, then closes everything. Returns even if something cannot be closed. */
  drain(): Promise<void>;
}

/** Opens the database, starts the ledger and listens. Only tests change `reach`, the addresses that media may be fetched from. */
export async function serve(config: Config, reach: Reach = PUBLIC_INTERNET): Promise<Service> {
  const lock = config.databaseUrl === undefined ? claimDataFolder(config.dataFolder) : undefined;
  const opened = await connect(config, STATEMENT_MS);
  const { kysely: database, dialect } = opened;
  await prepareSchema(database, dialect);
  const log = openLog(config.logLevel);
  const nodeId = makeId('node');
  const ledger = await openLedger(config, nodeId, log);
  const keyUses = new KeyUses();
  const gate = await openGate(config, opened, { ledger, log, reach, keyUses });
  const discovery = openDiscovery(gate, database);
  const money = await openMoney(gate, database);
  const housekeeping = await startHousekeeping({ ...gate, nodeId, database: opened, ledger, money: money.clock, keyUses });
  const state = { isDraining: false };
  const { server, dashboard } = listen(gate, state);
  const clocks = [
    gate.memory.start(),
    watchCalls(gate),
    watchChanges(gate, database),
    wakeDashboard(gate, database, dashboard),
    ...housekeeping,
    ...(lock === undefined ? [] : [await watchDatabaseFiles(config, ledger, log)]),
  ];
  discovery.start();
  for (const host of config.incompleteHosts) log.providerIncomplete(host);
  gate.log.lifecycle('listening', { host: config.host, port: server.port });

  return {
    url: publicUrlOf(config, server.port),
    accounts: new Accounts(database),
    keys: new Keys(database),
    catalog: gate.catalog,
    log: gate.log,
    lost: ledger.lost,
    firstStart: () => prepareFirstStart(database, sandboxModels(gate.catalog)),
    drain: async () => {
      state.isDraining = true;
      gate.log.lifecycle('draining', { requests: gate.calls.size });
      await finishCalls(gate.calls);
      // Slow clients get a moment to read finished responses. Not longer: an upload that was refused unread never ends.
      await withTimeout('a client', server.stop(false), LAST_READERS_MS).catch(() => undefined);
      await server.stop(true);
      // Running turns are not awaited: their database may be unreachable.
      for (const clock of clocks) void clock.stop();
      await closeAll(gate.log, CLOSE_THREADS_MS, {
        discovery: () => discovery.stop(),
        'the dashboard': () => dashboard.close(),
        'the token counter': closeCounter,
      });
      gate.client.close();
      await closeAll(gate.log, CLOSE_WRITERS_MS, {
        'the ledger': () => ledger.close(),
        'the data kept for providers': () => gate.carried.close(),
        'the last uses of keys': () => keyUses.write(database),
        'recorded prompts and answers': () => gate.contents.close(),
        'refused requests': () => gate.refusals.close(),
      });
      await closeAll(gate.log, CLOSE_LINKS_MS, { limits: () => gate.limits.close(), 'the database': () => database.destroy() });
      lock?.unlock();
      gate.log.lifecycle('ended');
    },
  };
}

function watchDatabaseFiles({ databasePath }: Config, ledger: GroupCommitLedger, log: Log): Promise<Clock> {
  return watchFiles(databasePath, ledger, {
    onGone: () => log.internalError(FILES_GONE, undefined),
    onBack: () => log.lifecycle(FILES_BACK),
    onFailure: (error) => log.internalError('the database files could not be checked', error),
  });
}

/** Returns the models that the trial key may call. */
function sandboxModels(catalog: Catalog): readonly string[] {
  const models = catalog.list().filter((model) => model.provider === SANDBOX_PROVIDER);
  return models.map(({ id }) => id);
}

/** Saves the plans of the settings file and opens the payment providers. */
async function openMoney({ config, log }: Gate, database: Kysely<Tables>): Promise<MoneyIn> {
  await new Plans(database).saveSettings(config.plans);
  return openMoneyIn({
    database,
    payments: config.payments,
    url: publicUrlOf(config, config.port),
    onRefused: () => log.internalError(STRIPE_REFUSES, undefined),
    onKept: ({ customerRef }) => log.internalError(STRIPE_KEEPS, Object.assign(new Error('kept'), { code: customerRef })),
  });
}

/** Locks the data folder. A second server on the embedded database would take the first one's holds for those of a dead process. */
function claimDataFolder(dataFolder: string): { unlock(): void } {
  const lock = lockDataFolder(dataFolder);
  if (lock !== undefined) return lock;
  throw new Error(`Another Tollgate server already uses the data folder ${dataFolder}. Stop it, or set TOLLGATE_DATA to another folder.`);
}

type GateParts = Pick<Gate, 'log' | 'reach'> & { readonly ledger: GroupCommitLedger; readonly keyUses: KeyUses };
type OpenGate = Gate & { readonly memory: MemoryWatch; readonly priceVersions: Map<string, number> };

async function openGate(config: Config, opened: OpenDatabase, { ledger, log, reach, keyUses }: GateParts): Promise<OpenGate> {
  const { kysely: database } = opened;
  const routeHealth = new RouteHealth({
    onPause: ({ provider, model }, pauseMs) => log.routePaused({ provider, model, pauseMs }),
    onResume: ({ provider, model }) => log.lifecycle('a paused route answers again', { provider, model }),
  });
  const metrics = openMetrics(() => ({ ledger, pausedRoutes: routeHealth.listPaused() }));
  const catalog = new Catalog(config.models, (provider) => config.providers.has(provider));
  catalog.disable(await new DisabledProviders(database).names());
  const fail = (event: string, error: unknown): void => log.internalError(event, error);
  return {
    config,
    catalog,
    keys: new KeyCache(new Keys(database), keyUses),
    carried: new Carried(opened, fail),
    contents: new Contents(opened, fail),
    refusals: new Refusals(opened, fail),
    limits: await openLimits(config, { log, metrics }),
    accountPlaces: new AccountPlaces(),
    held: new HeldBytes(),
    memory: new MemoryWatch({ limitBytes: config.memoryBytes, log }),
    ledger,
    priceVersions: new Map(await recordPrices(database, config.models)),
    log,
    metrics,
    client: new HttpClient(),
    routeHealth,
    overruns: new Overruns(),
    reach,
    waitingForMedia: { count: 0 },
    calls: new Set(),
  };
}

/** Opens discovery. Models discovered at run time get their price version before they are listed, like all others. */
function openDiscovery(gate: OpenGate, database: Kysely<Tables>): Discovery {
  const { priceVersions } = gate;
  const record = async (models: readonly Model[]): Promise<void> => {
    const fresh = models.filter(({ id }) => !priceVersions.has(id));
    if (fresh.length > 0) for (const [id, version] of await recordPrices(database, fresh)) priceVersions.set(id, version);
  };
  return new Discovery({ ...gate, record });
}

function listen(gate: Gate, state: { readonly isDraining: boolean }): { readonly server: RunningServer; readonly dashboard: Dashboard } {
  const { config } = gate;
  // The port is known only once the server listens; the dashboard's thread starts after that.
  const dashboard = new Dashboard(
    () => dashboardSettings(config, server.port),
    {
      answer: (question) => answerDashboard(gate, question),
      failed: (event, error) => gate.log.internalError(event, error),
      notice: (text) => void process.stdout.write(`${text}\n`),
    },
    gate.held,
  );
  const server = startServer({
    host: config.host,
    port: config.port,
    held: gate.held,
    routes: routes({
      gate,
      dashboard,
      webFiles: openWebFiles(publicUrlOf(config, config.port)),
      hasStripeWebhook: config.payments.stripe?.webhookSecret !== undefined,
      isReady: () => !state.isDraining && gate.ledger.isWritable,
      isDraining: () => state.isDraining,
    }),
    onError: (error) => {
      gate.log.internalError('the request could not be handled', error);
      return refuse(toGatewayError(error));
    },
    onMalformed: (problem) => refuse(new GatewayError('invalid_value', `This is not a valid HTTP request. ${problem}.`)),
  });
  return { server, dashboard };
}

/** Answers a request that reached no operation. */
function refuse(error: GatewayError): Outgoing {
  return { status: error.status, headers: { ...errorHeaders(error), 'x-request-id': makeId('req') }, body: errorBody(error) };
}

function dashboardSettings(config: Config, port: number): DashboardSettings {
  const { databaseUrl, databasePath, smtpUrl, mailFrom, signUp, signUpCreditUsd, signInProviders, secret, trustedProxies } = config;
  const places = { databaseUrl, databasePath, publicUrl: publicUrlOf(config, port), smtpUrl, mailFrom };
  const access = { signUp, signUpCreditUsd, signInProviders, secret, trustedProxies };
  return { ...places, ...access, payments: config.payments, shown: describeSettings(config, port) };
}

/** Answers questions of the dashboard's thread about the state in this process's memory. */
async function answerDashboard(gate: Gate, question: GateQuestion): Promise<unknown> {
  switch (question.type) {
    case 'catalogue':
      return gate.catalog.list();
    case 'price-list':
      return listPrices(gate);
    case 'providers':
      return listProviders(gate);
    case 'trial':
      return tryProvider(gate, question);
    case 'ledger':
      return gate.metrics.ledgerState();
    case 'limits':
      return gate.limits.stateOf(question.keyId, limitsOf(question.own, gate.config.limits));
    case 'webhook':
      return postWebhook(question.posting, gate.reach);
  }
}

function watchCalls({ calls }: Gate): Pick<Clock, 'stop'> {
  const watch = (): void => {
    const nowMs = performance.now();
    for (const call of calls) call.tick(nowMs);
  };
  const timer = setInterval(watch, TICK_MS);
  return { stop: async () => clearInterval(timer) };
}

/** Updates the gateway's caches when another process, such as the command line, has changed accounts, keys or providers. */
function watchChanges(gate: Gate, database: Kysely<Tables>): Clock {
  const disabled = new DisabledProviders(database);
  let counter: bigint | undefined;
  let isFailing = false;
  const look = async (): Promise<void> => {
    const changes = await changesSince(database, counter);
    isFailing = false;
    if (changes === undefined) return;
    gate.keys.forget(changes.accountIds);
    gate.catalog.disable(await disabled.names());
    // Set last: if the read above fails, the next turn tries again.
    counter = changes.counter;
  };
  return every(CHANGES_INTERVAL_MS, look, (error) => {
    // Logged once, not four times a second while the database is unreachable.
    if (!isFailing) gate.log.internalError('changes to accounts and keys could not be read', error);
    isFailing = true;
  });
}

/**
 * Starts the dashboard's thread if it has background work: it watches alerts and sums up history. Otherwise it starts with the first
 * visitor.
 */
function wakeDashboard(gate: Gate, database: Kysely<Tables>, dashboard: Dashboard): Clock {
  const look = async (): Promise<void> => {
    if ((await hasAlerts(database)) || (await hasReaders(database))) dashboard.wake();
  };
  return every(WORK_INTERVAL_MS, look, (error) => gate.log.internalError('pending dashboard work could not be checked', error));
}
