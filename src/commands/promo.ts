import { rm, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findPlan } from '../accounts/plans.ts';
import { PromoCodes, type FreshPromo, type ListedPromo, type PromoBenefit } from '../accounts/promo-codes.ts';
import { findPromo } from '../accounts/promo-list.ts';
import { promoOrderSchema, type PromoOrder } from '../accounts/promo-order.ts';
import { redeem, type RedeemRefusal } from '../accounts/redeem.ts';
import { formatUsd } from '../ledger/money.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readBySchema, readCount, readMoment } from './options.ts';
import { formatTime, print, requireAccount, withSession, type JsonOption } from './session.ts';
import { alignColumns, sayCount, sayUsd } from './text.ts';

/** `promo create|list|stop|redeem`. */
export function promoCommand(): Command {
  const { group, add } = commandGroup('promo', 'Promo codes: credit, a plan, or a bonus on the next top-up.');
  add('create', 'create one or more codes; they are shown once')
    .option('--credit <usd>', 'give this much credit; or --plan, or --bonus-percent')
    .option('--plan <id>', 'give this plan')
    .option('--periods <n>', 'number of periods of the plan (default: 1)', readCount)
    .option('--bonus-percent <n>', 'add this percentage to the next top-up', readCount)
    .option('--bonus-max <usd>', 'maximum bonus; required with --bonus-percent')
    .option('--code <text>', 'a code of your choice, such as WELCOME25 (default: a random code)')
    .option('--prefix <text>', 'prefix of random codes')
    .option('--count <n>', 'number of codes to create', readCount, 1)
    .option('--campaign <name>', 'campaign name; --per-account counts all codes of a campaign together')
    .option('--uses <n>', 'how often the code can be used in total', readCount, 1)
    .option('--per-account <n>', 'how often one account can use it', readCount, 1)
    .option('--new-accounts <days>', 'only for accounts created in the last <days> days', readCount)
    .option('--minimum-top-up <usd>', 'how much the account must have topped up; for a bonus, in one top-up')
    .option('--credit-days <n>', 'days after which unused credit is taken back', readCount)
    .option('--from <time>', 'when it becomes valid (default: now)', readMoment)
    .option('--to <time>', 'when it expires (default: never)', readMoment)
    .option('--csv <file>', 'write the codes to a file instead of printing them')
    .action(create);
  add('list', 'list the codes and how often they were used').option('--campaign <name>', 'only codes of this campaign').action(list);
  add('stop', 'stop a code, or all codes of a campaign, at once')
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
  readonly periods?: number;
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
      throw new Error(`There is no plan ${benefit.planId}. List them with: plan list`);
    const make = async (): Promise<FreshPromo[]> => {
      const made = await new PromoCodes(database).create(which, benefit, rules);
      if (made === undefined) throw new Error('This code already exists. List the codes with: promo list');
      return made;
    };
    await printFresh(await (options.csv === undefined ? make() : makeForFile(options.csv, make)), options);
  });
}

/** Command-line options by the order fields that they fill. */
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
  refuseUnused(options);
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

/** Refuses options that contradict each other or would have no effect: the codes would promise less than was meant. */
function refuseUnused({ credit, plan, periods, bonusPercent, bonusMax, creditDays, code, prefix }: CreateOptions): void {
  if ([credit, plan, bonusPercent].filter((benefit) => benefit !== undefined).length !== 1)
    throw new Error('Give exactly one of --credit, --plan and --bonus-percent.');
  if (periods !== undefined && plan === undefined) throw new Error('--periods applies only to a plan: add --plan.');
  if (bonusMax !== undefined && bonusPercent === undefined) throw new Error('--bonus-max applies only to a bonus: add --bonus-percent.');
  if (creditDays !== undefined && plan !== undefined) throw new Error("--credit-days does not apply to a plan's credit. Leave it out.");
  if (prefix !== undefined && code !== undefined) throw new Error('--prefix applies only to random codes: leave out --code.');
}

/**
 * Creates the file before the codes, since the codes cannot be shown a second time, and removes it if creating them fails.
 * Only its owner can read it: codes are money.
 */
async function makeForFile(file: string, make: () => Promise<FreshPromo[]>): Promise<FreshPromo[]> {
  await writeFile(file, '', { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'EEXIST'
        ? `${file} already exists. Name a file that does not.`
        : `--csv: the file cannot be created: ${error.message}`,
    );
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
    print({ count: fresh.length, file: csv }, options, [
      `${fresh.length === 1 ? '1 code is' : `${fresh.length} codes are`} in ${csv} and cannot be shown again.`,
    ]);
    return;
  }
  print({ codes: fresh.map(({ id, code }) => ({ id, code })) }, options, [
    ...fresh.map(({ id, code }) => `${id}  ${code}`),
    fresh.length === 1 ? 'Store it now: it is not shown again.' : 'Store them now: they are not shown again.',
  ]);
}

async function list(options: JsonOption & { readonly campaign?: string }): Promise<void> {
  await withSession(async ({ database }) => {
    const codes = await new PromoCodes(database).list(options.campaign);
    const campaign = options.campaign === undefined ? '' : ` of the campaign ${options.campaign}`;
    const lines = alignColumns(codes.map(toCells), { empty: `no codes${campaign}; create one with: promo create --credit 5` });
    print({ codes: codes.map(describe) }, options, lines);
  });
}

async function stop(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ database }) => {
    // Codes created together without a campaign have the id of the first as their campaign. Here it means that one code.
    const isCode = (await findPromo(database, id)) !== undefined;
    const stopped = await new PromoCodes(database).stop(isCode ? { id } : { campaign: id });
    if (stopped === 0) throw new Error(`There is no valid code or campaign ${id}. List them with: promo list`);
    print({ id, stopped }, options, [`${stopped === 1 ? '1 code is' : `${stopped} codes are`} stopped`]);
  });
}

async function redeemFor(options: JsonOption & { readonly account: string; readonly code: string }): Promise<void> {
  await withSession(async (session) => {
    const account = await requireAccount(session, options.account);
    const result = await redeem(session.database, { accountId: account.id, code: options.code, nowMs: Date.now() });
    if (result.type === 'refused')
      throw new Error(`The code is refused: ${REFUSALS[result.why]}. List the codes and their uses with: promo list`);
    print({ redeemed: true, ...describeBenefit(result.benefit) }, options, [`redeemed: ${sayBenefit(result.benefit)}`]);
  });
}

const REFUSALS: Readonly<Record<RedeemRefusal, string>> = {
  unknown: 'there is no such code',
  not_yet_valid: 'it is not valid yet',
  expired: 'it has expired',
  stopped: 'it was stopped',
  used_up: 'it has been used as often as it can be',
  already_used: 'the account has used it as often as it may',
  new_accounts_only: 'it is for new accounts only',
  needs_top_up: 'the account has not topped up enough for it',
  has_plan: 'it gives a plan, and the account has one',
  too_many_tries: 'too many unknown codes were tried for this account; try again in a few minutes',
};

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
      return sayUsd(benefit.amount);
    case 'plan':
      return `plan ${benefit.planId} for ${sayCount(benefit.periods, 'period')}`;
    case 'bonus':
      return `${benefit.percent} % of the next top-up, at most ${sayUsd(benefit.amount)}`;
  }
}

function toCells(code: ListedPromo): string[] {
  const from = code.validFromMs !== undefined && code.validFromMs > Date.now() ? [`from ${formatTime(code.validFromMs)}`] : [];
  const state = code.isStopped ? ['stopped'] : [...from, ...(code.validToMs === undefined ? [] : [`until ${formatTime(code.validToMs)}`])];
  // A code without a campaign has its own id as the campaign.
  const campaign = code.campaign === code.id ? '' : code.campaign;
  return [code.id, code.shown, campaign, sayBenefit(code.benefit), `used ${code.used} of ${code.usesMax}`, state.join(' ')];
}
