import type { Command } from 'commander';
import { ownPlanSchema } from '../accounts/plan-settings.ts';
import { Plans, type ListedPlan, type Plan } from '../accounts/plans.ts';
import { Subscriptions, type Subscription } from '../accounts/subscriptions.ts';
import { formatUsd } from '../ledger/money.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readBySchema, readCount, readList } from './options.ts';
import { refuseUnknownModels } from './refuse-unknown-models.ts';
import { print, requireAccount, withSession, type CommandSession, type JsonOption } from './session.ts';
import { alignColumns, sayCount, sayUsd } from './text.ts';

/** `plan create|list|end|assign|show`. */
export function planCommand(): Command {
  const { group, add } = commandGroup('plan', 'Subscription plans, in addition to those in the settings file.');
  add('create', 'create a plan, or replace all settings of one; limits apply at once, prices from the next period')
    .requiredOption('--id <id>', 'id, used in commands')
    .requiredOption('--name <name>', 'display name')
    .requiredOption('--price-usd <amount>', 'price per period')
    .requiredOption('--included-usd <amount>', 'credit included in each period')
    .option('--interval <interval>', 'month or year', 'month')
    .option('--rpm <n>', 'requests a minute for each key', readCount)
    .option('--tpm <n>', 'tokens a minute for each key', readCount)
    .option('--concurrent <n>', 'concurrent requests for each key', readCount)
    .option('--models <ids>', 'only these models, separated by commas (default: all)', readList)
    .option('--use-first <credit>', 'plan or balance: which credit subscribers use first, unless they choose', 'plan')
    .option('--overflow <way>', 'balance or stop: what happens when its credit is used up', 'balance')
    .option('--not-offered', 'accounts cannot buy it; only the operator or a promo code gives it')
    .action(create);
  add('list', 'list the plans').action(list);
  add('end', 'stop offering a plan; subscribers keep it to the end of the period').argument('<id>', 'the plan').action(end);
  add('assign', 'give an account a plan free of charge, or take its plan away')
    .requiredOption('--account <email>', 'the account')
    .requiredOption('--plan <id>', 'the plan, or `none`')
    .option('--periods <n>', 'number of periods (default: no end)', readCount)
    .action(assign);
  add('show', "show an account's plan").requiredOption('--account <email>', 'the account').action(show);
  return withJson(group);
}

interface CreateOptions extends JsonOption {
  readonly id: string;
  readonly name: string;
  readonly priceUsd: string;
  readonly includedUsd: string;
  readonly interval: string;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  readonly models?: string[];
  readonly useFirst: string;
  readonly overflow: string;
  readonly notOffered?: boolean;
}

/** Command-line options by the plan fields that they fill. */
const FLAGS: Readonly<Record<string, string>> = {
  id: '--id',
  name: '--name',
  price_usd: '--price-usd',
  included_usd: '--included-usd',
  interval: '--interval',
  use_first: '--use-first',
  overflow: '--overflow',
};

async function create(options: CreateOptions): Promise<void> {
  const { id, name, concurrent, models } = options;
  const entry = {
    id,
    name,
    concurrent,
    models,
    price_usd: options.priceUsd,
    included_usd: options.includedUsd,
    interval: options.interval,
    requests_per_minute: options.rpm,
    tokens_per_minute: options.tpm,
    offered: options.notOffered !== true,
    use_first: options.useFirst,
    overflow: options.overflow,
  };
  const plan = readBySchema(ownPlanSchema, entry, FLAGS);
  await withSession(async (session) => {
    await refuseUnknownModels(session.config, plan.models ?? []);
    const plans = await openPlans(session);
    if ((await plans.save(plan, 'command')) === 'of_settings') throw new Error(`The plan ${id} is in the settings file; change it there.`);
    print(describePlan(plan), options, [planCells(plan).join('  ')]);
  });
}

async function list(options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    const plans = await openPlans(session);
    const listed = await plans.list();
    const lines = alignColumns(listed.map(listedCells), { empty: 'no plans; see how to create one with: plan create --help' });
    print({ plans: listed.map((plan) => ({ ...describePlan(plan), ended: plan.isEnded, subscribers: plan.subscribers })) }, options, lines);
  });
}

async function end(id: string, options: JsonOption): Promise<void> {
  await withSession(async (session) => {
    const plans = await openPlans(session);
    const result = await plans.end(id, 'command');
    if (result === 'of_settings') throw new Error(`The plan ${id} is in the settings file; remove it there.`);
    if (result !== 'done') throw new Error(`There is no offered plan ${id}. List them with: plan list`);
    print({ id, ended: true }, options, [`${id} is no longer offered`]);
  });
}

async function assign(options: JsonOption & { readonly account: string; readonly plan: string; readonly periods?: number }): Promise<void> {
  if (options.plan === 'none' && options.periods !== undefined) throw new Error('--periods applies only to a plan that is given.');
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    const subscriptions = new Subscriptions(session.database);
    await openPlans(session);
    if (options.plan === 'none') {
      await subscriptions.end(account.id, 'ended by the operator');
    } else {
      const result = await subscriptions.assign(account.id, options.plan, { nowMs: Date.now(), periods: options.periods });
      if (result.type !== 'done') throw new Error(`There is no plan ${options.plan}. List them with: plan list`);
    }
    printSubscription(account.email, await subscriptions.find(account.id), options);
  });
}

async function show(options: JsonOption & { readonly account: string }): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    printSubscription(account.email, await new Subscriptions(session.database).find(account.id), options);
  });
}

/** Opens the plans after saving those of the settings file, which the server may not have read yet. */
async function openPlans({ config, database }: CommandSession): Promise<Plans> {
  const plans = new Plans(database);
  await plans.saveSettings(config.plans);
  return plans;
}

function printSubscription(email: string, subscription: Subscription | undefined, options: JsonOption): void {
  if (subscription === undefined) {
    print({ account: email, plan: null }, options, [`${email} has no plan`]);
    return;
  }
  const shown = {
    account: email,
    plan: subscription.plan.id,
    status: subscription.status,
    paid_by: subscription.paysBy,
    period_start: new Date(subscription.periodStartMs).toISOString(),
    period_end: new Date(subscription.periodEndMs).toISOString(),
    ends_with_period: subscription.endsWithPeriod,
    next_plan: subscription.nextPlan?.id ?? null,
    periods_left: subscription.periodsLeft ?? null,
    included_left: formatUsd(subscription.includedLeft),
    use_first: subscription.useFirst,
    overflow: subscription.plan.overflow,
    problem: subscription.reason === '' ? null : subscription.reason,
  };
  print(shown, options, [
    `${email}: ${subscription.plan.name} (${shown.plan}), ${shown.status}, until ${shown.period_end}, ${sayUsd(subscription.includedLeft)} of the included credit left`,
    ...(shown.problem === null ? [] : [shown.problem]),
  ]);
}

function describePlan(plan: Plan): Record<string, unknown> {
  return {
    id: plan.id,
    name: plan.name,
    price: formatUsd(plan.price),
    interval: plan.interval,
    included: formatUsd(plan.included),
    requests_per_minute: plan.requestsPerMinute ?? null,
    tokens_per_minute: plan.tokensPerMinute ?? null,
    concurrent: plan.concurrent ?? null,
    models: plan.models ?? null,
    offered: plan.isOffered,
    use_first: plan.useFirst,
    overflow: plan.overflow,
  };
}

function planCells(plan: Plan): string[] {
  const terms = [
    `${sayUsd(plan.price)} a ${plan.interval}, ${sayUsd(plan.included)} included`,
    plan.requestsPerMinute === undefined ? [] : `${plan.requestsPerMinute} requests a minute`,
    plan.tokensPerMinute === undefined ? [] : `${plan.tokensPerMinute} tokens a minute`,
    plan.concurrent === undefined ? [] : `${plan.concurrent} at once`,
    plan.models === undefined ? [] : sayCount(plan.models.length, 'model'),
    plan.useFirst === 'balance' ? 'balance first' : [],
    plan.overflow === 'stop' ? 'stops when used up' : [],
    plan.isOffered ? [] : 'not offered',
  ];
  return [plan.id, plan.name, terms.flat().join(', ')];
}

function listedCells(plan: ListedPlan): string[] {
  return [...planCells(plan), `${sayCount(plan.subscribers, 'subscriber')}${plan.isEnded ? ', ended' : ''}`];
}
