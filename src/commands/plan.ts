import { Command } from 'commander';
import { Plans, type ListedPlan, type Plan } from '../accounts/plans.ts';
import type { Overflow, UseFirst } from '../accounts/plan-use.ts';
import { Subscriptions, type Subscription } from '../accounts/subscriptions.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { readCount, readList, readNonNegativeUsd } from './options.ts';
import { print, requireAccount, withSession } from './session.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** `plan create|list|end|assign|show`. */
export function planCommand(): Command {
  const command = new Command('plan').description('Subscription plans, besides those of the settings file.');
  command
    .command('create')
    .description('make a plan, or change one: limits count at once, prices from the next period')
    .requiredOption('--id <id>', 'its name in commands', readId)
    .requiredOption('--name <name>', 'its name for people')
    .requiredOption('--price-usd <amount>', 'price of a period', readNonNegativeUsd)
    .requiredOption('--included-usd <amount>', 'credit that comes with a period', readNonNegativeUsd)
    .option('--interval <interval>', 'month or year', readInterval, 'month')
    .option('--rpm <n>', 'requests a minute for each key', readCount)
    .option('--tpm <n>', 'tokens a minute for each key', readCount)
    .option('--concurrent <n>', 'requests at once for each key', readCount)
    .option('--models <ids>', 'only these models, separated by commas', readList)
    .option('--use-first <credit>', 'plan or balance: which credit subscribers use first, unless they choose', readUseFirst, 'plan')
    .option('--overflow <way>', 'balance or stop: what happens when its credit is used up', readOverflow, 'balance')
    .option('--not-offered', 'only the operator or a code gives it')
    .option('--json', 'print one JSON object')
    .action(create);
  command.command('list').description('list the plans').option('--json', 'print one JSON object').action(list);
  command
    .command('end')
    .description('take a plan off the list; who has it keeps it to the end of the period')
    .argument('<id>', 'the plan')
    .option('--json', 'print one JSON object')
    .action(end);
  command
    .command('assign')
    .description('give an account a plan that nobody pays for, or take its plan away')
    .requiredOption('--account <email>', 'the account')
    .requiredOption('--plan <id>', 'the plan, or `none`')
    .option('--periods <n>', 'for how many periods; without an end otherwise', readCount)
    .option('--json', 'print one JSON object')
    .action(assign);
  command
    .command('show')
    .description("show an account's plan")
    .requiredOption('--account <email>', 'the account')
    .option('--json', 'print one JSON object')
    .action(show);
  return command;
}

interface CreateOptions extends JsonOption {
  readonly id: string;
  readonly name: string;
  readonly priceUsd: Nanos;
  readonly includedUsd: Nanos;
  readonly interval: Plan['interval'];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  readonly models?: readonly string[];
  readonly useFirst: UseFirst;
  readonly overflow: Overflow;
  readonly offered?: boolean;
  readonly notOffered?: boolean;
}

async function create(options: CreateOptions): Promise<void> {
  await withSession(async ({ config, database }) => {
    if (config.plans.some(({ id }) => id === options.id))
      throw new Error(`The plan ${options.id} stands in the settings file; change it there.`);
    const plan: Plan = {
      id: options.id,
      name: options.name,
      price: options.priceUsd,
      included: options.includedUsd,
      interval: options.interval,
      requestsPerMinute: options.rpm,
      tokensPerMinute: options.tpm,
      concurrent: options.concurrent,
      models: options.models,
      isOffered: options.notOffered !== true,
      useFirst: options.useFirst,
      overflow: options.overflow,
    };
    await new Plans(database).save(plan, 'command');
    print(describePlan(plan), options, [sayPlan(plan)]);
  });
}

async function list(options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    const plans = new Plans(database);
    await plans.saveSettings(config.plans);
    const listed = await plans.list();
    const lines = listed.length === 0 ? ['no plans; make one with: plan create'] : listed.map(sayListed);
    print({ plans: listed.map((plan) => ({ ...describePlan(plan), ended: plan.isEnded, subscribers: plan.subscribers })) }, options, lines);
  });
}

async function end(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    if (config.plans.some((plan) => plan.id === id)) throw new Error(`The plan ${id} stands in the settings file; remove it there.`);
    if (!(await new Plans(database).end(id))) throw new Error(`There is no plan ${id} that is offered. See them with: plan list`);
    print({ id, ended: true }, options, [`${id} is offered no more`]);
  });
}

async function assign(options: JsonOption & { readonly account: string; readonly plan: string; readonly periods?: number }): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    const subscriptions = new Subscriptions(session.database);
    await new Plans(session.database).saveSettings(session.config.plans);
    if (options.plan === 'none') {
      await subscriptions.end(account.id, 'ended by the operator');
    } else {
      const result = await subscriptions.assign(account.id, options.plan, { nowMs: Date.now(), periods: options.periods });
      if (result.type !== 'done') throw new Error(`There is no plan ${options.plan}. See them with: plan list`);
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
    `${email}: ${subscription.plan.name} (${shown.plan}), ${shown.status}, until ${shown.period_end}, $${shown.included_left} of what is included left`,
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

function sayPlan(plan: Plan): string {
  return `${plan.id}  ${plan.name}  $${formatUsd(plan.price)} a ${plan.interval}, $${formatUsd(plan.included)} included${plan.isOffered ? '' : ', not offered'}`;
}

function sayListed(plan: ListedPlan): string {
  return `${sayPlan(plan)}, ${plan.subscribers} ${plan.subscribers === 1 ? 'subscriber' : 'subscribers'}${plan.isEnded ? ', ended' : ''}`;
}

function readId(text: string): string {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/u.test(text) || text === 'none')
    throw new Error('The id of a plan has up to 64 small letters, digits, - and _, and is not "none".');
  return text;
}

function readInterval(text: string): Plan['interval'] {
  if (text !== 'month' && text !== 'year') throw new Error(`"${text}" is not an interval; use month or year.`);
  return text;
}

function readUseFirst(text: string): UseFirst {
  if (text !== 'plan' && text !== 'balance') throw new Error(`"${text}" is no credit; use plan or balance.`);
  return text;
}

function readOverflow(text: string): Overflow {
  if (text !== 'balance' && text !== 'stop') throw new Error(`"${text}" is no way to go on; use balance or stop.`);
  return text;
}
