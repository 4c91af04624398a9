import type { Command } from 'commander';
import type { Kysely } from 'kysely';
import { COMMAND_LINE } from '../accounts/audit.ts';
import { publicUrlOf } from '../config.ts';
import type { Tables } from '../database/tables.ts';
import { DAY_MS } from '../durations.ts';
import { formatUsd, asNanos, type Nanos } from '../ledger/money.ts';
import { openMoneyIn, type MoneyIn } from '../payments/open.ts';
import { isWholeCents, toCents, type PaymentRow } from '../payments/payments.ts';
import { listProblems, type PaymentProblem } from '../payments/problems.ts';
import { reconcilePayments } from '../payments/reconcile.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readCount, readMoment, readPositiveUsd, readReason } from './options.ts';
import { print, requireAccount, withSession, type CommandSession, type JsonOption } from './session.ts';
import { alignColumns, sayCount, sayUsd } from './text.ts';

const DAYS_BACK = 30;

/** `payments list|ask|confirm|refuse|reconcile`. */
export function paymentsCommand(): Command {
  const { group, add } = commandGroup('payments', 'Payments: list them, resolve problems, compare with Stripe.');
  add('list', 'list payments, newest first')
    .option('--account <email>', 'only payments of this account')
    .option('--problems', 'what needs attention, in all accounts')
    .option('--limit <n>', 'maximum number of payments', readCount, 50)
    .action(list);
  add('ask', 'ask the provider for the state of a payment, and credit it if it was paid').argument('<id>', 'the payment').action(ask);
  add('confirm', 'credit a bank transfer that has arrived')
    .argument('<reference>', 'the reference on the transfer')
    .requiredOption('--usd <amount>', 'the amount that arrived', readPaidUsd)
    .action(confirm);
  add('refuse', 'cancel a bank transfer that will not arrive')
    .argument('<reference>', 'the reference of the transfer')
    .requiredOption('--reason <text>', 'the reason, shown to the account', readReason)
    .action(refuse);
  add('reconcile', "compare Stripe's list with the ledger; exit code 1 on any difference")
    .option('--since <time>', `first moment to compare (default: ${DAYS_BACK} days ago)`, readMoment)
    .action(reconcile);
  return withJson(group);
}

type PaymentOfAccount = PaymentRow & { readonly email?: string | null };

interface ListOptions extends JsonOption {
  readonly account?: string;
  readonly problems?: boolean;
  readonly limit: number;
}

async function list(options: ListOptions): Promise<void> {
  await withSession(async (session) => {
    if (options.problems === true) {
      if (options.account !== undefined) throw new Error('--problems lists those of all accounts: leave out --account.');
      const problems = await listProblems(session.database, Date.now(), options.limit);
      print({ problems: problems.map(describeProblem) }, options, alignColumns(problems.map(problemCells), { empty: 'no problems' }));
      return;
    }
    const payments = await readPayments(session, options);
    const shown = payments.slice(0, options.limit);
    const rest = payments.length === shown.length ? [] : ['… older payments are not shown; raise --limit'];
    const lines = alignColumns(shown.map(toCells), { right: [4], empty: 'no payments; they are listed as soon as somebody starts one' });
    print({ payments: shown.map(describe) }, options, [...lines, ...rest]);
  });
}

async function ask(id: string, options: JsonOption): Promise<void> {
  await withMoney(async ({ desk }) => {
    const payment = await desk.find(id);
    if (payment === undefined) throw new Error(`There is no payment ${id}. List them with: payments list`);
    const asked = await desk.poll(payment, Date.now());
    print(describe(asked), options, [say(asked)]);
  });
}

async function confirm(reference: string, options: JsonOption & { readonly usd: Nanos }): Promise<void> {
  await withMoney(async ({ desk }) => {
    const payment = await requireTransfer(desk, reference);
    const result = await desk.confirm(payment, toCents(options.usd), Date.now(), COMMAND_LINE);
    if (result.type === 'refused') throw new Error(`Nothing was credited: ${result.reason}. To credit another amount, use: account credit`);
    const credited = await desk.require(payment.id);
    print({ ...describe(credited), result: result.type }, options, [
      `${result.type === 'credited' ? 'credited' : 'was credited before'}: ${say(credited)}`,
    ]);
  });
}

/** Reads an amount that a payment can have. Rounding another one to cents would confirm what did not arrive. */
function readPaidUsd(text: string): Nanos {
  const amount = readPositiveUsd(text);
  if (!isWholeCents(amount)) throw new Error(`"${text}" is not an amount in whole cents such as 25 or 12.50.`);
  return amount;
}

async function refuse(reference: string, options: JsonOption & { readonly reason: string }): Promise<void> {
  await withMoney(async ({ desk }) => {
    const payment = await requireTransfer(desk, reference);
    if (!(await desk.refuse(payment, options.reason, COMMAND_LINE))) throw new Error(`The payment is already ${payment.status}.`);
    const refused = await desk.require(payment.id);
    print(describe(refused), options, [say(refused)]);
  });
}

async function reconcile(options: JsonOption & { readonly since?: number }): Promise<void> {
  await withMoney(async ({ desk }, database) => {
    const driver = desk.driver('stripe');
    if (driver === undefined) throw new Error('Payments cannot be compared with Stripe: set STRIPE_SECRET_KEY, as for the server.');
    const result = await reconcilePayments(database, driver, options.since ?? Date.now() - DAYS_BACK * DAY_MS);
    const differences = result.differences.map(({ kind, paymentId, providerRef, explanation }) => {
      return { kind, payment: paymentId ?? null, provider_ref: providerRef, explanation };
    });
    const ok = differences.length === 0;
    print({ ok, compared: result.compared, foreign: result.foreign, differences }, options, [
      ...alignColumns(differences.map((each) => ['DIFFERENT', each.kind, each.payment ?? '', each.provider_ref, each.explanation])),
      `${sayCount(result.compared, 'payment')} compared${result.foreign === 0 ? '' : `, ${result.foreign} not made by Tollgate skipped`}. ${ok ? 'They agree.' : 'They do not agree.'}`,
    ]);
    if (!ok) process.exitCode = 1;
  });
}

async function withMoney(work: (money: MoneyIn, database: Kysely<Tables>) => Promise<void>): Promise<void> {
  await withSession(async ({ config, database }) => {
    await work(await openMoneyIn({ database, payments: config.payments, url: publicUrlOf(config, config.port) }), database);
  });
}

async function requireTransfer(desk: MoneyIn['desk'], reference: string): Promise<PaymentRow> {
  const payment = await desk.findByReference(reference);
  if (payment === undefined) throw new Error(`There is no bank transfer ${reference}. List them with: payments list`);
  return payment;
}

/** Reads one more than is shown, to see whether there are more. */
async function readPayments(session: CommandSession, { account, limit }: ListOptions): Promise<PaymentOfAccount[]> {
  const all = session.database
    .selectFrom('payments')
    .leftJoin('accounts', 'accounts.id', 'payments.account_id')
    .selectAll('payments')
    .select('accounts.email')
    .orderBy('payments.created_at', 'desc')
    .orderBy('payments.id', 'desc')
    .limit(limit + 1);
  return (account === undefined ? all : all.where('account_id', '=', (await requireAccount(session, account)).id)).execute();
}

function describe(payment: PaymentRow): Record<string, unknown> {
  return {
    id: payment.id,
    account_id: payment.account_id,
    provider: payment.provider,
    purpose: payment.purpose,
    status: payment.status,
    usd: formatUsd(asNanos(payment.amount)),
    bonus: formatUsd(asNanos(payment.bonus)),
    reversed: formatUsd(asNanos(payment.reversed)),
    provider_ref: payment.provider_ref,
    reason: payment.reason === '' ? null : payment.reason,
    created_at: new Date(Number(payment.created_at)).toISOString(),
    paid_at: payment.paid_at === null ? null : new Date(Number(payment.paid_at)).toISOString(),
  };
}

function say(payment: PaymentRow): string {
  return alignColumns([toCells(payment)]).join('');
}

function toCells(payment: PaymentOfAccount): string[] {
  const reversed = payment.reversed === 0n ? '' : `, ${sayUsd(payment.reversed)} taken back`;
  const status = `${payment.status}${reversed}${payment.reason === '' ? '' : `: ${payment.reason}`}`;
  const created = new Date(Number(payment.created_at)).toISOString();
  return [created, payment.id, payment.email ?? '', payment.provider, sayUsd(payment.amount), payment.provider_ref ?? '', status];
}

function describeProblem({ kind, at, paymentId, explanation }: PaymentProblem): Record<string, unknown> {
  return { kind, at: new Date(at).toISOString(), payment: paymentId ?? null, explanation };
}

function problemCells({ kind, at, paymentId, explanation }: PaymentProblem): string[] {
  return [new Date(at).toISOString(), kind, paymentId ?? '', explanation];
}
