import { rm, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findPlan } from '../accounts/plans.ts';
import { PromoCodes, type FreshPromo, type ListedPromo, type PromoBenefit } from '../accounts/promo-codes.ts';
import { promoOrderSchema, type PromoOrder } from '../accounts/promo-order.ts';
import { redeem } from '../accounts/redeem.ts';
import { formatUsd } from '../ledger/money.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readBySchema, readCount, readMoment } from './options.ts';
import { formatTime, print, requireAccount, withSession, type JsonOption } from './session.ts';

/** `promo create|list|stop|redeem`. */
export function promoCommand(): Command {
  const { group, add } = commandGroup('promo', 'Promo codes: credit, a plan, or a bonus on the next top-up.');
  add('create', 'make one code or many; they are shown once')
    .option('--credit <usd>', 'the code gives this much credit')
    .option('--plan <id>', 'the code gives this plan')
    .option('--periods <n>', 'for how many periods the plan is given', readCount, 1)
    .option('--bonus-percent <n>', 'the code adds this share to the next top-up', readCount)
    .option('--bonus-max <usd>', 'the most that the bonus can be')
    .option('--code <text>', 'a code of your own, such as WELCOME25; one is made up otherwise')
    .option('--prefix <text>', 'what made-up codes begin with')
    .option('--count <n>', 'how many codes to make', readCount, 1)
    .option('--campaign <name>', 'a name; codes of a campaign count together for what one account may use')
    .option('--uses <n>', 'how often the code can be used in all', readCount, 1)
    .option('--per-account <n>', 'how often one account can use it', readCount, 1)
    .option('--new-accounts <days>', 'only for accounts that are not older than this', readCount)
    .option('--minimum-top-up <usd>', 'what must have been topped up; for a bonus, at once')
    .option('--credit-days <n>', 'after how many days what is left of the credit is taken back', readCount)
    .option('--from <time>', 'when it begins to be valid', readMoment)
    .option('--to <time>', 'when it ends to be valid', readMoment)
    .option('--csv <file>', 'write the codes to a file instead of printing them')
    .action(create);
  add('list', 'list the codes and how often they were used').option('--campaign <name>', 'only those of a campaign').action(list);
  add('stop', 'end a code, or all codes of a campaign, at once')
    .argument('<id>', 'the code’s id, as `promo list` shows it, or a campaign')
    .action(stop);
  add('redeem', 'redeem a code for an account')
    .requiredOption('--account <email>', 'the account')
    .requiredOption('--code <text>', 'the code')
    .action(redeemFor);
  return withJson(group);
}

interface CreateOptions extends JsonOption {
  readonly credit?: string;
  readonly plan?: string;
  readonly periods: number;
  readonly bonusPercent?: number;
  readonly bonusMax?: string;
  readonly code?: string;
  readonly prefix?: string;
  readonly count: number;
  readonly campaign?: string;
  readonly uses: number;
  readonly perAccount: number;
  readonly newAccounts?: number;
  readonly minimumTopUp?: string;
  readonly creditDays?: number;
  readonly from?: number;
  readonly to?: number;
  readonly csv?: string;
}

async function create(options: CreateOptions): Promise<void> {
  const { which, benefit, rules } = readOrder(options);
  await withSession(async ({ database }) => {
    if (benefit.kind === 'plan' && (await findPlan(database, benefit.planId)) === undefined)
      throw new Error(`There is no plan ${benefit.planId}. See them with: plan list`);
    const make = async (): Promise<FreshPromo[]> => {
      const made = await new PromoCodes(database).create(which, benefit, rules);
      if (made === undefined) throw new Error('There is a code like this already. See it with: promo list');
      return made;
    };
    await printFresh(await (options.csv === undefined ? make() : makeForFile(options.csv, make)), options);
  });
}

/** The options, by the fields of the order that they fill. */
const FLAGS: Readonly<Record<string, string>> = {
  creditUsd: '--credit',
  bonusPercent: '--bonus-percent',
  bonusMaxUsd: '--bonus-max',
  code: '--code',
  prefix: '--prefix',
  count: '--count',
  campaign: '--campaign',
  newAccountDays: '--new-accounts',
  minimumTopUpUsd: '--minimum-top-up',
  creditDays: '--credit-days',
  validFromMs: '--from',
  validToMs: '--to',
};

function readOrder(options: CreateOptions): PromoOrder {
  const { periods, bonusPercent, code, prefix, count, campaign, uses, perAccount, creditDays } = options;
  const renamed = {
    creditUsd: options.credit,
    planId: options.plan,
    bonusMaxUsd: options.bonusMax,
    newAccountDays: options.newAccounts,
    minimumTopUpUsd: options.minimumTopUp,
    validFromMs: options.from,
    validToMs: options.to,
  };
  const same = { periods, bonusPercent, code, prefix, count, campaign, uses, perAccount, creditDays };
  return readBySchema(promoOrderSchema, { ...renamed, ...same }, FLAGS);
}

/** The file is made before the codes, which cannot be had a second time, and taken away again should there be none. It is for its owner only: codes are money. */
async function makeForFile(file: string, make: () => Promise<FreshPromo[]>): Promise<FreshPromo[]> {
  await writeFile(file, '', { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(`${file} is there already. Name a file that is not.`) : error;
  });
  try {
    return await make();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function printFresh(fresh: readonly FreshPromo[], options: CreateOptions): Promise<void> {
  const { csv } = options;
  if (csv !== undefined) {
    const lines = ['id,code', ...fresh.map(({ id, code }) => `${id},${code}`)];
    await writeFile(csv, `${lines.join('\n')}\n`);
    print({ count: fresh.length, file: csv }, options, [`${fresh.length} codes are in ${csv}. They cannot be had again.`]);
    return;
  }
  print({ codes: fresh.map(({ id, code }) => ({ id, code })) }, options, [
    ...fresh.map(({ id, code }) => `${id}  ${code}`),
    'Keep them now: they are not shown again.',
  ]);
}

async function list(options: JsonOption & { readonly campaign?: string }): Promise<void> {
  await withSession(async ({ database }) => {
    const codes = await new PromoCodes(database).list(options.campaign);
    const lines = codes.length === 0 ? ['no codes; make one with: promo create --credit 5'] : codes.map(describeLine);
    print({ codes: codes.map(describe) }, options, lines);
  });
}

async function stop(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ database }) => {
    const stopped = await new PromoCodes(database).stop({ id, campaign: id });
    if (stopped === 0) throw new Error(`There is no code or campaign ${id} that is still valid. See them with: promo list`);
    print({ id, stopped }, options, [`${stopped === 1 ? 'one code is' : `${stopped} codes are`} stopped`]);
  });
}

async function redeemFor(options: JsonOption & { readonly account: string; readonly code: string }): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    const result = await redeem(session.database, { accountId: account.id, code: options.code, nowMs: Date.now() });
    if (result.type === 'refused') throw new Error(`The code is refused: ${result.why.replaceAll('_', ' ')}.`);
    print({ redeemed: true, ...describeBenefit(result.benefit) }, options, [`redeemed: ${sayBenefit(result.benefit)}`]);
  });
}

function describe(code: ListedPromo): Record<string, unknown> {
  return {
    id: code.id,
    shown: code.shown,
    campaign: code.campaign,
    ...describeBenefit(code.benefit),
    used: code.used,
    uses: code.usesMax,
    per_account: code.perAccount,
    new_account_days: code.newAccountDays ?? null,
    minimum_top_up: formatUsd(code.minimumTopUp),
    valid_from: formatTime(code.validFromMs),
    valid_to: formatTime(code.validToMs),
    stopped: code.isStopped,
    created_at: formatTime(code.createdAtMs),
  };
}

function describeBenefit(benefit: PromoBenefit): Record<string, unknown> {
  switch (benefit.kind) {
    case 'credit':
      return { kind: 'credit', usd: formatUsd(benefit.amount), credit_days: benefit.creditDays ?? null };
    case 'plan':
      return { kind: 'plan', plan: benefit.planId, periods: benefit.periods };
    case 'bonus':
      return { kind: 'bonus', percent: benefit.percent, max_usd: formatUsd(benefit.amount), credit_days: benefit.creditDays ?? null };
  }
}

function sayBenefit(benefit: PromoBenefit): string {
  switch (benefit.kind) {
    case 'credit':
      return `$${formatUsd(benefit.amount)}`;
    case 'plan':
      return `plan ${benefit.planId} for ${benefit.periods} ${benefit.periods === 1 ? 'period' : 'periods'}`;
    case 'bonus':
      return `${benefit.percent} % of the next top-up, at most $${formatUsd(benefit.amount)}`;
  }
}

function describeLine(code: ListedPromo): string {
  const state = code.isStopped ? 'stopped' : code.validToMs === undefined ? '' : `until ${formatTime(code.validToMs)}`;
  // A code without a campaign is one of its own.
  const campaign = code.campaign === code.id ? '' : `${code.campaign}  `;
  return `${code.id}  ${code.shown}  ${campaign}${sayBenefit(code.benefit)}  used ${code.used} of ${code.usesMax}  ${state}`.trimEnd();
}
