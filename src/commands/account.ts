import type { Command } from 'commander';
import { Accounts, availableOf, type Account } from '../accounts/accounts.ts';
import { formatUsd, type Nanos } from '../ledger/money.ts';
import { COMMAND_LINE } from '../accounts/audit.ts';
import { inviteByLink } from '../accounts/invitations.ts';
import { publicUrlOf } from '../config.ts';
import { commandGroup, withJson } from './command-group.ts';
import { readChangeUsd, readFuture, readReason, readUsd } from './options.ts';
import { createDatabase, normalizeEmail, print, requireAccount, withSession, type JsonOption } from './session.ts';
import { inTransaction } from '../database/in-transaction.ts';
import { sayCount, sayUsd } from './text.ts';

type StatusOptions = JsonOption & { readonly email: string; readonly reason?: string };

/** `account create|credit|show|invite|suspend|resume|operator|end-sessions`. */
export function accountCommand(): Command {
  const { group, add } = commandGroup('account', 'Accounts, which own keys and pay.');
  const addForOwner = (name: string, description: string): Command =>
    add(name, description).requiredOption('--email <address>', 'email address of the owner', readEmail);
  addForOwner('create', 'create an account')
    .option('--credit <usd>', 'initial credit in USD', readCredit)
    .option('--admin', 'make it an operator account')
    .action(create);
  addForOwner('credit', 'add credit to an account (a negative amount takes credit away)')
    .requiredOption('--usd <amount>', 'amount in USD', readChangeUsd)
    .requiredOption('--reason <text>', 'the reason, recorded in the audit log', readReason)
    .option('--expires <time>', 'when the unused rest is taken back, such as 2027-01-31 (default: never)', readFuture)
    .action(credit);
  addForOwner('show', 'show an account and its balance').action(show);
  add('invite', 'print a link for signing up in the dashboard; it works once')
    .option('--email <address>', 'only for this email address', readEmail)
    .option('--operator', 'for an operator; valid for a day instead of a week')
    .action(invite);
  addForOwner('suspend', 'refuse every request of an account')
    .option('--reason <text>', 'the reason, recorded in the audit log', readReason)
    .action((options: StatusOptions) => setStatus(options, 'suspended'));
  addForOwner('resume', 'admit requests of a suspended account again')
    .option('--reason <text>', 'the reason, recorded in the audit log', readReason)
    .action((options: StatusOptions) => setStatus(options, 'active'));
  addForOwner('operator', 'make an account an operator in the dashboard').option('--remove', 'take the role away').action(setOperator);
  addForOwner('end-sessions', 'sign the owner of an account out of the dashboard, everywhere').action(endSessions);
  return withJson(group);
}

async function create(options: JsonOption & { readonly email: string; readonly credit?: Nanos; readonly admin?: boolean }): Promise<void> {
  await withSession(async (session) => {
    // In one transaction, so that no account is left without its credit.
    await inTransaction(session.database, async (transaction) => {
      const accounts = new Accounts(transaction);
      const account = await accounts.create(options.email, options.admin === true);
      if (account === undefined)
        throw new Error(`The account ${options.email} already exists. Show it with: account show --email ${options.email}`);
      if (options.credit !== undefined)
        await accounts.credit(account, options.credit, { reason: 'credit at creation', actor: COMMAND_LINE });
    });
    printAccount(await requireAccount(session, options.email), options);
  }, createDatabase);
}

async function credit(
  options: JsonOption & { readonly email: string; readonly usd: Nanos; readonly reason: string; readonly expires?: number },
): Promise<void> {
  if (options.usd < 0n && options.expires !== undefined)
    throw new Error('--expires applies only to credit that is added, not to a negative amount.');
  await withSession(async (session) => {
    await session.accounts.credit(await requireAccount(session, options.email), options.usd, {
      reason: options.reason,
      actor: COMMAND_LINE,
      expiresAtMs: options.expires,
    });
    printAccount(await requireAccount(session, options.email), options);
  });
}

async function show(options: JsonOption & { readonly email: string }): Promise<void> {
  await withSession(async (session) => printAccount(await requireAccount(session, options.email), options));
}

async function setStatus(options: StatusOptions, status: 'active' | 'suspended'): Promise<void> {
  await withSession(async (session) => {
    await session.accounts.setStatus(await requireAccount(session, options.email), status, { actor: COMMAND_LINE, reason: options.reason });
    printAccount(await requireAccount(session, options.email), options);
  });
}

async function setOperator(options: JsonOption & { readonly email: string; readonly remove?: boolean }): Promise<void> {
  await withSession(async (session) => {
    const outcome = await session.accounts.setOperator(await requireAccount(session, options.email), options.remove !== true);
    if (outcome === 'last_operator') throw new Error(`${options.email} is the only operator. Make another account an operator first.`);
    printAccount(await requireAccount(session, options.email), options);
  });
}

async function endSessions(options: JsonOption & { readonly email: string }): Promise<void> {
  await withSession(async (session) => {
    const ended = await session.accounts.endSessions(await requireAccount(session, options.email));
    print({ email: options.email, ended }, options, [`Ended ${sayCount(ended, 'session')}.`]);
  });
}

async function invite(options: JsonOption & { readonly email?: string; readonly operator?: boolean }): Promise<void> {
  await withSession(async ({ config, database }) => {
    const kind = options.operator === true ? 'operator' : 'person';
    if (kind === 'person' && config.signUp === 'closed')
      throw new Error('Nobody may sign up: accounts.sign_up is closed. Set it to invite, or invite an operator with --operator.');
    const url = publicUrlOf(config, config.port);
    const { link, expiresAtMs } = await inviteByLink(database, { kind, email: options.email, url, actor: COMMAND_LINE });
    const expires_at = new Date(expiresAtMs).toISOString();
    print({ link, expires_at }, options, [`This link works once, until ${expires_at}:`, link]);
  });
}

function printAccount(account: Account, options: JsonOption): void {
  const shown = {
    id: account.id,
    email: account.email,
    status: account.status,
    admin: account.isAdmin,
    balance: formatUsd(account.balance),
    available: formatUsd(availableOf(account)),
    held: formatUsd(account.held),
    created_at: new Date(account.createdAtMs).toISOString(),
  };
  print(shown, options, [
    `${account.email}${account.isAdmin ? ' (operator)' : ''}, ${account.status}`,
    `balance ${sayUsd(account.balance)}, of which ${sayUsd(availableOf(account))} available and ${sayUsd(account.held)} held for running requests`,
  ]);
}

function readEmail(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new Error(`"${text}" is not an email address.`);
  return normalizeEmail(text);
}

function readCredit(text: string): Nanos {
  const amount = readUsd(text);
  if (amount < 0n) throw new Error('The initial credit cannot be negative.');
  return amount;
}
