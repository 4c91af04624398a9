import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { asNanos } from '../../src/ledger/money.ts';
import { openMoneyIn } from '../../src/payments/open.ts';
import { startGate, type Gate } from '../simulator/gate.ts';
import { startOpenAiSimulator, type OpenAiSimulator } from '../simulator/openai.ts';
import { useDatabase } from '../simulator/payer.ts';
import { startStripeSimulator, type StripeSimulator } from '../simulator/stripe.ts';
import { runCommand, variablesOf, type Ended } from './run-command.ts';

/** What people read: the output without `--json`. */

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/gu;
const ID = /\b(key|promo|pay)_[\da-z]{29}\b/gu;

let simulator: OpenAiSimulator;
let stripe: StripeSimulator;
let gate: Gate;
let variables: Record<string, string>;

beforeAll(async () => {
  [simulator, stripe] = await Promise.all([startOpenAiSimulator(), startStripeSimulator()]);
  const env = { STRIPE_SECRET_KEY: 'sk_test_simulated' };
  gate = await startGate({ simulator, env, settings: { payments: { stripe_api_url: stripe.url } } });
  variables = { ...variablesOf(gate), ...env };
}, 120_000);
afterAll(async () => {
  await gate.stop();
  await Promise.all([simulator.stop(), stripe.stop()]);
}, 120_000);

/** Runs a command with one argument per word, and further arguments that may have spaces. */
function run(command: string, ...more: readonly string[]): Promise<Ended> {
  return runCommand([...command.split(' '), ...more], variables);
}

/** Returns the lines that a successful command prints, with `<time>` for times, and ids without their digits. */
async function read(command: string, ...more: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(command, ...more);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toEndWith('\n');
  const plain = stdout.replaceAll(TIME, '<time>').replaceAll(ID, '$1_…');
  return plain
    .replaceAll(/sk-tg-\w{4}…\w{4}/gu, 'sk-tg-…')
    .slice(0, -1)
    .split('\n');
}

test('amounts have a currency, a sign before it, and never one decimal alone', async () => {
  expect(await read('account create --email money@example.com --credit 12.5')).toEqual([
    'money@example.com, active',
    'balance $12.50, of which $12.50 available and $0 held for running requests',
  ]);
  expect((await read('account credit --email money@example.com --usd -20 --reason refund'))[1]).toBe(
    'balance -$7.50, of which $0 available and $0 held for running requests',
  );
  expect((await read('account credit --email money@example.com --usd 7.500000001 --reason gift'))[1]).toBe(
    'balance $0.000000001, of which $0.000000001 available and $0 held for running requests',
  );
  expect(await read('ledger show --account money@example.com')).toEqual([
    'money@example.com: balance $0.000000001',
    '<time>  $7.500000001  $0.000000001  manual  gift',
    '<time>          -$20        -$7.50  manual  refund',
    '<time>        $12.50        $12.50  manual  credit at creation',
  ]);
  expect(await read('ledger show --account money@example.com --limit 1')).toEqual([
    'money@example.com: balance $0.000000001',
    '<time>  $7.500000001  $0.000000001  manual  gift',
    '… older lines are not shown; raise --limit',
  ]);
});

test('a reason cannot command the terminal or add lines', async () => {
  await read('account create --email escape@example.com');
  await read('account credit --email escape@example.com --usd 1', '--reason', 'a\u001B[2Jb\nc\u202Ed');
  const { stdout } = await run('ledger show --account escape@example.com');
  expect(stdout).toEndWith(String.raw`  $1  $1  manual  a\u001b[2Jb\u000ac\u202ed` + '\n');
});

test('keys are aligned, whatever the width of their names', async () => {
  const owner = '--account keys@example.com';
  await read('account create --email keys@example.com');
  expect(await read(`key list ${owner}`)).toEqual(['no keys; create one with: key create --account keys@example.com --name …']);
  await read(`key create ${owner}`, '--name', '首席 x');
  await read(`key create ${owner} --name developer --budget-usd 5.5 --expires 2099-01-31`);
  await read(
    `key create ${owner} --name ci --tpm 9000 --concurrent 1`,
    '--models',
    'sandbox/echo,openai/*',
    '--tag',
    'a',
    '--tag',
    'b',
    '--tag',
    'c',
    '--tag',
    'd',
    '--tag',
    'e',
  );
  expect(await read(`key list ${owner}`)).toEqual([
    'key_…  首席 x     sk-tg-…',
    'key_…  developer  sk-tg-…, expires <time>, $0 of $5.50 spent (month)',
    'key_…  ci         sk-tg-…, only sandbox/echo openai/*, 9000 tokens a minute, 1 at once, tagged a b c and 2 more',
  ]);
});

test('an invitation that could not be used is refused', async () => {
  const config = join(gate.dataFolder, 'closed.yaml');
  await Bun.write(config, 'accounts: { sign_up: closed }');
  const invite = (...more: string[]): Promise<Ended> =>
    runCommand(['account', 'invite', ...more], { ...variables, TOLLGATE_CONFIG: config });
  const stderr = 'Nobody may sign up: accounts.sign_up is closed. Set it to invite, or invite an operator with --operator.\n';
  expect(await invite()).toEqual({ code: 1, stdout: '', stderr });
  expect(await invite('--operator')).toMatchObject({ code: 0, stderr: '' });
});

test('promo codes are aligned, with their campaign and the times between which they are valid', async () => {
  expect(await read('promo list')).toEqual(['no codes; create one with: promo create --credit 5']);
  expect(await read('promo list --campaign autumn')).toEqual(['no codes of the campaign autumn; create one with: promo create --credit 5']);
  expect(await read('promo create --credit 5 --code WELCOME')).toEqual(['promo_…  WELCOME', 'Store it now: it is not shown again.']);
  const many = await read('promo create --bonus-percent 10 --bonus-max 2.5 --count 2 --campaign autumn --from 2099-01-01 --to 2099-02-01');
  expect(many.at(-1)).toBe('Store them now: they are not shown again.');
  const lines = (await read('promo list')).map((line) => line.replace(/\b[A-Z\d]{4}…/u, 'CODE…'));
  expect(lines.toSorted()).toEqual([
    'promo_…  CODE…          $5                                      used 0 of 1',
    'promo_…  CODE…  autumn  10 % of the next top-up, at most $2.50  used 0 of 1  from <time> until <time>',
    'promo_…  CODE…  autumn  10 % of the next top-up, at most $2.50  used 0 of 1  from <time> until <time>',
  ]);
  expect(await read('promo stop autumn')).toEqual(['2 codes are stopped']);
  await read('account create --email codes@example.com');
  expect(await read('promo redeem --account codes@example.com --code WELCOME')).toEqual(['redeemed: $5']);
  expect(await run('promo redeem --account codes@example.com --code NOBODY1')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'The code is refused: there is no such code. List the codes and their uses with: promo list\n',
  });
});

test('plans are aligned, with their subscribers counted', async () => {
  expect(await read('plan list')).toEqual(['no plans; see how to create one with: plan create --help']);
  await read('plan create --id a --name Basic --price-usd 9.5 --included-usd 10');
  expect(await read('plan create --id team', '--name', 'For teams', '--price-usd=99', '--included-usd=120', '--not-offered')).toEqual([
    'team  For teams  $99 a month, $120 included, not offered',
  ]);
  await read('account create --email plans@example.com');
  expect(await read('plan show --account plans@example.com')).toEqual(['plans@example.com has no plan']);
  expect(await read('plan assign --account plans@example.com --plan a')).toEqual([
    'plans@example.com: Basic (a), active, until <time>, $10 of the included credit left',
  ]);
  expect((await read('plan list')).toSorted()).toEqual([
    'a     Basic      $9.50 a month, $10 included              1 subscriber',
    'team  For teams  $99 a month, $120 included, not offered  0 subscribers',
  ]);
});

test('a plan is shown with the terms that it has, which a second `plan create` replaces', async () => {
  const create = 'plan create --id full --name Full --price-usd 1 --included-usd 2';
  const options = '--rpm 60 --tpm 5000 --concurrent 2 --models sandbox/echo --use-first balance --overflow stop';
  expect(await read(`${create} ${options}`)).toEqual([
    'full  Full  $1 a month, $2 included, 60 requests a minute, 5000 tokens a minute, 2 at once, 1 model, balance first, stops when used up',
  ]);
  expect(await read(create)).toEqual(['full  Full  $1 a month, $2 included']);
});

test('ledger verify says of each rule that it holds, and then of all', async () => {
  const lines = await read('ledger verify');
  expect(lines.at(-1)).toBe('The ledger is correct.');
  expect(lines.slice(0, -1).every((line) => /^ok {9}R\d /u.test(line))).toBe(true);
});

test('models list aligns providers, numbers and prices', async () => {
  const lines = await read('models list');
  expect(lines).toContain('mock/gpt       mock     128000 tokens context  $2.50 input    $10 output per million tokens');
  expect(lines).toContain('sandbox/story  sandbox   32768 tokens context  $0.10 input  $0.40 output per million tokens');
});

test('--help says which options are required', async () => {
  const { stdout } = await run('account credit --help');
  expect(stdout).toMatch(/--usd <amount> +amount in USD \(required\)\n/u);
  expect(stdout).toMatch(/--expires <time> [^(]+\(default: never\)\n/u);
});

test('payments are aligned, with their accounts, and compared with Stripe', async () => {
  expect(await read('payments list')).toEqual(['no payments; they are listed as soon as somebody starts one']);
  expect(await read('payments list --problems')).toEqual(['no problems']);
  expect(await read('payments reconcile')).toEqual(['0 payments compared. They agree.']);
  const [first] = [await startTopUp('payer@example.com', 5), await startTopUp('another-payer@example.com', 12.5)];
  expect((await read('payments list')).toSorted()).toEqual([
    '<time>  pay_…  another-payer@example.com  stripe  $12.50  open',
    '<time>  pay_…  payer@example.com          stripe      $5  open',
  ]);
  expect((await read('payments list --limit 1')).at(-1)).toBe('… older payments are not shown; raise --limit');

  // A running server asks Stripe now and then, and would credit the payment first.
  await gate.terminate();
  stripe.books.pay(stripe.books.sessionOf(first));
  const { code, stdout, stderr } = await run('payments reconcile');
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(
    new RegExp(`^DIFFERENT  charged_not_credited  ${first}  \\S+  .+\n1 payment compared\\. They do not agree\\.\n$`, 'u'),
  );
  await read(`payments ask ${first}`);
  expect(await read('payments reconcile')).toEqual(['1 payment compared. They agree.']);
});

/** Starts a top-up as the dashboard does; returns the payment's id. */
async function startTopUp(email: string, usd: number): Promise<string> {
  const { id } = await gate.run('account', 'create', '--email', email);
  const { payments } = loadConfig(variables);
  return useDatabase({ databaseUrl: undefined, databasePath: join(gate.dataFolder, 'tollgate.db') }, async (database) => {
    const { desk } = await openMoneyIn({ database, payments, url: gate.origin });
    const payer = { accountId: String(id), email };
    const result = await desk.start({ payer, amount: asNanos(BigInt(usd * 1e9)), provider: 'stripe', nowMs: Date.now() });
    if (result.type === 'refused') throw new Error(result.why);
    return result.payment.id;
  });
}
