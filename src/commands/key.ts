import type { Command } from 'commander';
import { COMMAND_LINE } from '../accounts/audit.ts';
import { ANY_ACCOUNT, type KeyRequest } from '../accounts/keys.ts';
import { BUDGET_PERIODS, type BudgetPeriod } from '../ledger/ledger.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readBudget, readBudgetOrNone, readDuration, readPeriod, readSettingsOptions, type SettingsOptions } from './key-options.ts';
import { describeKey, printFresh, toCells } from './key-output.ts';
import { refuseUnknownModels } from './refuse-unknown-models.ts';
import { print, requireAccount, withSession, type JsonOption } from './session.ts';
import { alignColumns, sayUsd } from './text.ts';

/** `key create|list|update|rotate|end-overlap|budget|disable|enable|delete`. */
export function keyCommand(): Command {
  const { group, add } = commandGroup('key', 'API keys. Changes take effect on a running server within a second.');
  withSettings(add('create', 'create a key; its secret is shown once'), 'a name to tell keys apart')
    .requiredOption('--account <email>', 'the account that pays')
    .option('--budget-usd <amount>', 'how much the key may spend per period', readBudget)
    .option('--budget-period <period>', `the period of the budget: ${BUDGET_PERIODS.join(', ')} (default: month)`, readPeriod)
    .action(create);
  add('list', 'list the keys of an account').requiredOption('--account <email>', 'the account').action(list);
  withSettings(withKey(add('update', 'change the settings of a key; `none` removes a setting')), 'a new name').action(update);
  withKey(add('rotate', 'give a key a new secret'))
    .option('--overlap <time>', 'how long the old secret stays valid, such as 0, 30m, 24h, 7d', readDuration, 0)
    .action(rotate);
  withKey(add('end-overlap', 'expire the old secrets of a key now')).action(endOverlap);
  withKey(add('budget', 'set how much a key may spend; a key may have one budget per period'))
    .requiredOption('--usd <amount>', 'USD per period, or `none` to remove the budget', readBudgetOrNone)
    .requiredOption('--period <period>', BUDGET_PERIODS.join(', '), readPeriod)
    .action(budget);
  withKey(add('disable', 'refuse a key until it is enabled again')).action((id: string, options: JsonOption) =>
    setDisabled(id, true, options),
  );
  withKey(add('enable', 'admit a disabled key again')).action((id: string, options: JsonOption) => setDisabled(id, false, options));
  withKey(add('delete', 'delete a key; all its secrets stop working at once')).action(remove);
  return withJson(group);
}

function withKey(command: Command): Command {
  return command.argument('<id>', 'the key, as `key list` shows it');
}

function withSettings(command: Command, nameText: string): Command {
  const name = ['--name <name>', nameText] as const;
  return (command.name() === 'create' ? command.requiredOption(...name) : command.option(...name))
    .option('--models <ids>', 'only these models, separated by commas; provider/* for all of a provider')
    .option('--deny-models <ids>', 'never these models, separated by commas; provider/* for all of a provider')
    .option('--addresses <blocks>', 'only from these addresses or blocks, such as 203.0.113.0/24, separated by commas')
    .option('--tag <tag...>', 'tags for finding keys: words, or name=value')
    .option('--rpm <n>', 'requests a minute')
    .option('--tpm <n>', 'tokens a minute')
    .option('--concurrent <n>', 'concurrent requests')
    .option('--at-limit <what>', 'stop, or slow-down: spread the last fifth of every budget, except the total, evenly over its period')
    .option('--limit-zone <zone>', 'time zone of the budget periods, such as Europe/Berlin')
    .option('--expires <time>', 'when the key expires, such as 2027-01-31 or 2027-01-31T12:00:00Z');
}

interface CreateOptions extends JsonOption, SettingsOptions {
  readonly account: string;
  readonly name: string;
  readonly budgetUsd?: Nanos;
  readonly budgetPeriod?: BudgetPeriod;
}

async function create(options: CreateOptions): Promise<void> {
  const { budgetUsd, budgetPeriod } = options;
  if (budgetUsd === undefined && budgetPeriod !== undefined) throw new Error('--budget-period needs an amount: add --budget-usd.');
  const settings = readSettingsOptions(options);
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    await refuseUnknownModels(session.config, [...(settings.models ?? []), ...(settings.deniedModels ?? [])]);
    const budgets = budgetUsd === undefined ? {} : { [budgetPeriod ?? 'month']: budgetUsd };
    const fresh = await session.keys.create(account.id, { ...settings, name: settings.name ?? options.name, budgets });
    printFresh(fresh, `${fresh.id} (${options.name})`, options);
  });
}

async function list(options: JsonOption & { readonly account: string }): Promise<void> {
  await withSession(async (session) => {
    const keys = await session.keys.list((await requireAccount(session, options.account)).id);
    const empty = `no keys; create one with: key create --account ${options.account} --name …`;
    print({ keys: keys.map(describeKey) }, options, alignColumns(keys.map(toCells), { empty }));
  });
}

async function update(id: string, options: JsonOption & SettingsOptions): Promise<void> {
  const change = readSettingsOptions(options);
  if (Object.keys(change).length === 0) throw new Error('Nothing to change: name a setting. List them with: key update --help');
  await withSession(async (session) => {
    await refuseUnknownModels(session.config, [...(change.models ?? []), ...(change.deniedModels ?? [])]);
    if (!(await session.keys.update(operatorOn(id), change))) throw noSuchKey(id);
    print({ id, updated: true }, options, [`${id} is updated`]);
  });
}

async function rotate(id: string, options: JsonOption & { readonly overlap: number }): Promise<void> {
  await withSession(async (session) => {
    const fresh = await session.keys.rotate(operatorOn(id), options.overlap);
    if (fresh === 'no_such_key') throw noSuchKey(id);
    if (fresh === 'too_many_secrets') throw new Error(`${id} has too many valid secrets. Expire the old ones with: key end-overlap ${id}`);
    printFresh(fresh, `${id} has a new secret`, options);
  });
}

async function endOverlap(id: string, options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    if (!(await session.keys.endOverlap(operatorOn(id)))) throw noSuchKey(id);
    print({ id, overlap_ended: true }, options, [`${id} has only its newest secret`]);
  });
}

async function budget(id: string, options: JsonOption & { readonly usd: Nanos | 'none'; readonly period: BudgetPeriod }): Promise<void> {
  const amount = options.usd === 'none' ? undefined : options.usd;
  await withSession(async (session) => {
    if (!(await session.keys.setBudget(id, options.period, amount))) throw noSuchKey(id);
    const said = amount === undefined ? 'has no budget' : `may spend ${sayUsd(amount)}`;
    const usd = amount === undefined ? null : formatUsd(amount);
    print({ id, period: options.period, usd }, options, [`${id} ${said} (${options.period})`]);
  });
}

async function setDisabled(id: string, isDisabled: boolean, options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    if (!(await session.keys.update(operatorOn(id), { isDisabled }))) throw noSuchKey(id);
    print({ id, disabled: isDisabled }, options, [`${id} is ${isDisabled ? 'disabled' : 'enabled'}`]);
  });
}

async function remove(id: string, options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    if (!(await session.keys.delete(operatorOn(id)))) throw noSuchKey(id);
    print({ id, deleted: true }, options, [`${id} is deleted`]);
  });
}

function operatorOn(id: string): KeyRequest {
  return { id, accountId: ANY_ACCOUNT, actor: COMMAND_LINE };
}

function noSuchKey(id: string): Error {
  return new Error(`There is no key ${id}. List them with: key list --account EMAIL`);
}
