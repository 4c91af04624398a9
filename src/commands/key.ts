import { Command } from 'commander';
import type { FreshKey, KeyBudget, ListedKey } from '../accounts/keys.ts';
import type { Config } from '../config.ts';
import { discoverModels } from '../discovery.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { readCount, readFuture, readList, readUsd } from './options.ts';
import { print, requireAccount, withSession } from './session.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** `key create|list|rotate|budget|delete`. */
export function keyCommand(): Command {
  const command = new Command('key').description('API keys. A running server sees changes within a second.');
  command
    .command('create')
    .description('make a key; its secret is shown once')
    .requiredOption('--account <email>', 'the account that pays')
    .requiredOption('--name <name>', 'a name to tell keys apart')
    .option('--models <ids>', 'only these models, separated by commas', readList)
    .option('--rpm <n>', 'requests a minute', readCount)
    .option('--tpm <n>', 'tokens a minute', readCount)
    .option('--concurrent <n>', 'requests at once', readCount)
    .option('--budget-usd <amount>', 'what the key may spend in a period', readBudget)
    .option('--budget-period <period>', `the period of the budget: ${BUDGET_PERIODS.join(', ')}`, readPeriod, 'month')
    .option('--expires <time>', 'end of life, such as 2027-01-31 or 2027-01-31T12:00:00Z', readFuture)
    .option('--json', 'print one JSON object')
    .action(create);
  command
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <email>', 'the account')
    .option('--json', 'print one JSON object')
    .action(list);
  command
    .command('rotate')
    .description('give a key a new secret')
    .argument('<id>', 'the key, as `key list` shows it')
    .option('--overlap <time>', 'how long the old secret stays valid, such as 0, 30m, 24h, 7d', readDuration, 0)
    .option('--json', 'print one JSON object')
    .action(rotate);
  command
    .command('budget')
    .description('set what a key may spend; a key may have a budget for every period at once')
    .argument('<id>', 'the key, as `key list` shows it')
    .requiredOption('--usd <amount>', 'USD in a period, or `none` to lift the budget', readBudgetOrNone)
    .requiredOption('--period <period>', BUDGET_PERIODS.join(', '), readPeriod)
    .option('--json', 'print one JSON object')
    .action(budget);
  command
    .command('delete')
    .description('end a key and all its secrets at once')
    .argument('<id>', 'the key, as `key list` shows it')
    .option('--json', 'print one JSON object')
    .action(remove);
  return command;
}

interface CreateOptions extends JsonOption {
  readonly account: string;
  readonly name: string;
  readonly models?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  readonly expires?: number;
  readonly budgetUsd?: Nanos;
  readonly budgetPeriod: BudgetPeriod;
}

async function create(options: CreateOptions): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    await refuseUnknownModels(session.config, options.models ?? []);
    const fresh = await session.keys.create(account.id, {
      name: options.name,
      models: options.models,
      requestsPerMinute: options.rpm,
      tokensPerMinute: options.tpm,
      concurrent: options.concurrent,
      expiresAtMs: options.expires,
    });
    if (options.budgetUsd !== undefined) await session.keys.setBudget(fresh.id, options.budgetPeriod, options.budgetUsd);
    printFresh(fresh, options.name, options);
  });
}

async function list(options: JsonOption & { readonly account: string }): Promise<void> {
  await withSession(async (session) => {
    const keys = await session.keys.list((await requireAccount(session, options.account)).id);
    const lines = keys.length === 0 ? ['no keys; make one with: key create --account … --name …'] : keys.map(describeLine);
    print({ keys: keys.map(describeKey) }, options, lines);
  });
}

async function rotate(id: string, options: JsonOption & { readonly overlap: number }): Promise<void> {
  await withSession(async (session) => {
    const fresh = await session.keys.rotate(id, options.overlap);
    if (fresh === undefined) throw new Error(`There is no key ${id}. List them with: key list --account EMAIL`);
    printFresh(fresh, id, options);
  });
}

async function budget(id: string, options: JsonOption & { readonly usd: Nanos | undefined; readonly period: BudgetPeriod }): Promise<void> {
  await withSession(async (session) => {
    if (!(await session.keys.setBudget(id, options.period, options.usd)))
      throw new Error(`There is no key ${id}. List them with: key list --account EMAIL`);
    const shown = { id, period: options.period, usd: options.usd === undefined ? null : formatUsd(options.usd) };
    print(shown, options, [
      shown.usd === null ? `${id} has no budget (${shown.period})` : `${id} may spend $${shown.usd} (${shown.period})`,
    ]);
  });
}

async function remove(id: string, options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    if (!(await session.keys.delete(id))) throw new Error(`There is no key ${id}. List them with: key list --account EMAIL`);
    print({ id, deleted: true }, options, [`${id} is deleted`]);
  });
}

function printFresh(fresh: FreshKey, name: string, options: JsonOption): void {
  const shown = { id: fresh.id, secret: fresh.secret, prefix: fresh.prefix, last_four: fresh.lastFour };
  print(shown, options, [`${fresh.id} (${name})`, fresh.secret, 'Store the secret now: it is not shown again.']);
}

function describeKey(key: ListedKey): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    models: key.models ?? null,
    requests_per_minute: key.requestsPerMinute ?? null,
    tokens_per_minute: key.tokensPerMinute ?? null,
    concurrent: key.concurrent ?? null,
    budgets: key.budgets.map(describeBudget),
    expires_at: formatTime(key.expiresAtMs),
    created_at: formatTime(key.createdAtMs),
    secrets: key.secrets.map((secret) => ({
      prefix: secret.prefix,
      last_four: secret.lastFour,
      expires_at: formatTime(secret.expiresAtMs),
    })),
  };
}

function describeBudget({ period, amount, spent, held }: KeyBudget): Record<string, string> {
  return { period, usd: formatUsd(amount), spent: formatUsd(spent), held: formatUsd(held) };
}

function describeLine(key: ListedKey): string {
  const secrets = key.secrets.map(
    (secret) => `${secret.prefix}…${secret.lastFour}${secret.expiresAtMs === undefined ? '' : ` until ${formatTime(secret.expiresAtMs)}`}`,
  );
  const end = key.expiresAtMs === undefined ? '' : `, expires ${formatTime(key.expiresAtMs)}`;
  const budgets = key.budgets.map(({ period, amount, spent }) => `, $${formatUsd(spent)} of $${formatUsd(amount)} spent (${period})`);
  return `${key.id}  ${key.name}  ${secrets.join(' and ')}${end}${budgets.join('')}`;
}

function formatTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

/** A misspelt model would make a key that can call nothing, and nobody would know why. */
async function refuseUnknownModels(config: Config, models: readonly string[]): Promise<void> {
  const known = new Set(config.models.map((model) => model.id));
  if (models.every((id) => known.has(id))) return;
  const discovered = await discoverModels(config);
  for (const { id } of [...discovered.models.values()].flat()) known.add(id);
  // A server of one's own that is down cannot be asked; its models will be what the key says.
  const unknown = models.filter((id) => !known.has(id) && !discovered.silent.has(id.split('/')[0] ?? ''));
  if (unknown.length > 0) throw new Error(`Unknown model ${unknown.join(', ')}. See them with: models list`);
}

function readPeriod(text: string): BudgetPeriod {
  const period = BUDGET_PERIODS.find((name) => name === text);
  if (period === undefined) throw new Error(`"${text}" is not a period; use ${BUDGET_PERIODS.join(', ')}.`);
  return period;
}

function readBudget(text: string): Nanos {
  const amount = readUsd(text);
  if (amount < 0n) throw new Error('A budget is zero or more.');
  return amount;
}

function readBudgetOrNone(text: string): Nanos | undefined {
  return text === 'none' ? undefined : readBudget(text);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readDuration(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,6})([smhd])?$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`"${text}" is not a duration such as 0, 30m, 24h or 7d.`);
  return Number(count) * (UNIT_MS[unit] ?? 0);
}
