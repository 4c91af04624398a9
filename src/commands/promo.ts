import { rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { findPlan } from '../accounts/plans.ts';
import { PromoCodes, type FreshPromo, type ListedPromo, type PromoBenefit, type PromoRules } from '../accounts/promo-codes.ts';
import { normalizeCode } from '../accounts/promo-code-text.ts';
import { redeem } from '../accounts/redeem.ts';
import { formatUsd, NO_MONEY, type Nanos } from '../ledger/money.ts';
import { readCount, readFuture, readMoment, readPositiveUsd } from './options.ts';
import { print, requireAccount, withSession, type CommandSession } from './session.ts';

interface JsonOption {
  readonly json?: boolean;
}

/** `promo create|list|stop|redeem`. */
export function promoCommand(): Command {
  const command = new Command('promo').description('Promo codes: credit, a plan, or a bonus on the next top-up.');
  command
    .command('create')
    .description('make one code or many; they are shown once')
    .option('--credit <usd>', 'the code gives this much credit', readPositiveUsd)
    .option('--plan <id>', 'the code gives this plan')
    .option('--periods <n>', 'for how many periods the plan is given', readCount, 1)
    .option('--bonus-percent <n>', 'the code adds this share to the next top-up', readPercent)
    .option('--bonus-max <usd>', 'the most that the bonus can be', readPositiveUsd)
    .option('--code <text>', 'a code of your own, such as WELCOME25; one is made up otherwise')
    .option('--prefix <text>', 'what made-up codes begin with', readPrefix, '')
    .option('--count <n>', 'how many codes to make', readBatch, 1)
    .option('--campaign <name>', 'a name; codes of a campaign count together for what one account may use')
    .option('--uses <n>', 'how often the code can be used in all', readCount, 1)
    .option('--per-account <n>', 'how often one account can use it', readCount, 1)
    .option('--new-accounts <days>', 'only for accounts that are not older than this', readCount)
    .option('--minimum-top-up <usd>', 'what must have been topped up; for a bonus, at once', readPositiveUsd)
    .option('--credit-days <n>', 'after how many days what is left of the credit is taken back', readCount)
    .option('--from <time>', 'when it begins to be valid', readMoment)
    .option('--to <time>', 'when it ends to be valid', readFuture)
    .option('--csv <file>', 'write the codes to a file instead of printing them')
    .option('--json', 'print one JSON object')
    .action(create);
  command
    .command('list')
    .description('list the codes and how often they were used')
    .option('--campaign <name>', 'only those of a campaign')
    .option('--json', 'print one JSON object')
    .action(list);
  command
    .command('stop')
    .description('end a code, or all codes of a campaign, at once')
    .argument('<id>', 'the code’s id, as `promo list` shows it, or a campaign')
    .option('--json', 'print one JSON object')
    .action(stop);
  command
    .command('redeem')
    .description('redeem a code for an account')
    .requiredOption('--account <email>', 'the account')
    .requiredOption('--code <text>', 'the code')
    .option('--json', 'print one JSON object')
    .action(redeemFor);
  return command;
}

interface CreateOptions extends JsonOption {
  readonly credit?: Nanos;
  readonly plan?: string;
  readonly periods: number;
  readonly bonusPercent?: number;
  readonly bonusMax?: Nanos;
  readonly code?: string;
  readonly prefix: string;
  readonly count: number;
  readonly campaign?: string;
  readonly uses: number;
  readonly perAccount: number;
  readonly newAccounts?: number;
  readonly minimumTopUp?: Nanos;
  readonly creditDays?: number;
  readonly from?: number;
  readonly to?: number;
  readonly csv?: string;
}

async function create(options: CreateOptions): Promise<void> {
  await withSession(async (session) => {
    const benefit = await readBenefit(session, options);
    const rules: PromoRules = {
      campaign: options.campaign,
      usesMax: options.uses,
      perAccount: options.perAccount,
      newAccountDays: options.newAccounts,
      minimumTopUp: options.minimumTopUp ?? NO_MONEY,
      validFromMs: options.from,
      validToMs: options.to,
    };
    const make = async (): Promise<FreshPromo[]> => {
      const made = await new PromoCodes(session.database).create(readChoice(options), benefit, rules);
      if (made === undefined) throw new Error('There is a code like this already. See it with: promo list');
      return made;
    };
    await printFresh(await (options.csv === undefined ? make() : makeForFile(options.csv, make)), options);
  });
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

function readChoice({ code, count, prefix }: CreateOptions): Parameters<PromoCodes['create']>[0] {
  if (code === undefined) return { prefix, count };
  if (count > 1) throw new Error('--code makes one code; leave it out to make many.');
  if (normalizeCode(code) === undefined) throw new Error('A code has 4 to 64 letters, digits and _; blanks and hyphens do not count.');
  return { code };
}

async function readBenefit(session: CommandSession, options: CreateOptions): Promise<PromoBenefit> {
  const given = [options.credit, options.plan, options.bonusPercent].filter((value) => value !== undefined);
  if (given.length !== 1) throw new Error('Say what the code gives: --credit USD, --plan ID or --bonus-percent N.');
  if (options.credit !== undefined) return { kind: 'credit', amount: options.credit, creditDays: options.creditDays };
  if (options.plan !== undefined) {
    if ((await findPlan(session.database, options.plan)) === undefined)
      throw new Error(`There is no plan ${options.plan}. See them with: plan list`);
    return { kind: 'plan', planId: options.plan, periods: options.periods };
  }
  if (options.bonusMax === undefined) throw new Error('Say how much the bonus can be at most, with --bonus-max USD.');
  return { kind: 'bonus', percent: options.bonusPercent ?? 0, amount: options.bonusMax, creditDays: options.creditDays };
}

async function printFresh(fresh: readonly FreshPromo[], { csv, json }: CreateOptions): Promise<void> {
  if (csv !== undefined) {
    const lines = ['id,code', ...fresh.map(({ id, code }) => `${id},${code}`)];
    await writeFile(csv, `${lines.join('\n')}\n`);
    print({ count: fresh.length, file: csv }, { json: json === true }, [`${fresh.length} codes are in ${csv}. They cannot be had again.`]);
    return;
  }
  print({ codes: fresh.map(({ id, code }) => ({ id, code })) }, { json: json === true }, [
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
    const stopped = await new PromoCodes(database).stop(id);
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

function formatTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

const BATCH_MAX = 10_000;

function readBatch(text: string): number {
  const count = readCount(text);
  if (count > BATCH_MAX) throw new Error(`At most ${BATCH_MAX} codes can be made at once.`);
  return count;
}

function readPercent(text: string): number {
  const percent = readCount(text);
  if (percent > 100) throw new Error('A bonus is 1 to 100 percent.');
  return percent;
}

function readPrefix(text: string): string {
  if (!/^[A-Za-z0-9]{1,20}$/u.test(text)) throw new Error('A prefix has 1 to 20 letters and digits.');
  return text;
}
