import { Accounts, type Account } from '../../../accounts/accounts.ts';
import { AuditLog } from '../../../accounts/audit-log.ts';
import { Subscriptions, type Subscription } from '../../../accounts/subscriptions.ts';
import { formatUsd } from '../../../ledger/money.ts';
import { readStatement } from '../../../ledger/statement.ts';
import { openCustomers } from '../../../payments/customers.ts';
import { readPeriods } from '../../../usage/overview.ts';
import { ApiError } from '../../api-error.ts';
import { BillingDesk } from '../billing-desk.ts';
import { KeyDesk } from '../key-desk.ts';
import type { Dependencies, Person } from '../../dependencies.ts';
import { readSignInMethods } from '../../people/sign-in-methods.ts';
import { listSessions } from '../access.ts';
import { describeLine } from '../statement.ts';
import { describeEntry } from './audit.ts';

const LINES_SHOWN = 10;

/** Collects what operators see of one account. */
export class AccountDesk {
  readonly accounts: Accounts;
  readonly #dependencies: Dependencies;
  readonly #keys: KeyDesk;
  readonly #billing: BillingDesk;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.accounts = new Accounts(dependencies.database.kysely);
    this.#keys = new KeyDesk(dependencies);
    this.#billing = new BillingDesk(dependencies.database.kysely, dependencies.money);
  }

  async find(id: string): Promise<Account> {
    const account = await this.accounts.findById(id);
    if (account === undefined) throw new ApiError('not_found', 'Account not found.');
    return account;
  }

  /** Finds an account that can be changed. Closed accounts cannot. */
  async findOpen(id: string): Promise<Account> {
    const account = await this.find(id);
    if (account.status === 'closed') throw new ApiError('conflict', 'This account was deleted by its owner and cannot be changed.');
    return account;
  }

  /** Finds an account that can be changed and is not the operator's own, so that operators cannot lock themselves out. */
  async findOther(id: string, { accountId }: Person): Promise<Account> {
    if (id === accountId) throw new ApiError('conflict', 'This is your own account. Ask another operator to do this.');
    return this.findOpen(id);
  }

  /** Returns everything about an account. Spending per day and month follows the calendar of the zone. */
  async show(account: Account, { person, zone }: { readonly person: Person; readonly zone: string }) {
    const { kysely } = this.#dependencies.database;
    const { id: accountId } = account;
    const { lines } = await readStatement(kysely, accountId, { linesMax: LINES_SHOWN });
    const payments = await this.#billing.listPayments(accountId, LINES_SHOWN);
    const { rows: entries } = await new AuditLog(kysely).read({ subject: accountId }, { before: undefined, rowsMax: LINES_SHOWN });
    return {
      account: {
        id: accountId,
        email: account.email,
        status: account.status,
        isOperator: account.isAdmin,
        isOwn: accountId === person.accountId,
        createdAtMs: account.createdAtMs,
        stripeCustomer: (await openCustomers(kysely, 'stripe').find(accountId)) ?? null,
      },
      money: await this.#describeMoney(accountId),
      spend: await this.#describeSpend(accountId, zone),
      plan: describePlan(await new Subscriptions(kysely).find(accountId)),
      owner: await this.#describeOwner(accountId, person),
      keys: await this.#describeKeys(accountId, zone),
      statement: lines.map(describeLine),
      // The payment page is only for the payer.
      payments: payments.map(({ address: _address, ...payment }) => payment),
      audit: entries.map(describeEntry),
    };
  }

  async #describeMoney(accountId: string) {
    const { balanceUsd, heldUsd, availableUsd, sources, moreSources } = await this.#billing.show(accountId);
    return { balanceUsd, heldUsd, availableUsd, sources, moreSources };
  }

  async #describeSpend(accountId: string, zone: string) {
    const { today, week, month } = await readPeriods(this.#dependencies.database, { accountId, zone, nowMs: Date.now() });
    return { todayUsd: formatUsd(today.sums.cost), weekUsd: formatUsd(week.sums.cost), monthUsd: formatUsd(month.sums.cost) };
  }

  /** Describes the account's owner; null if it was created on the command line and nobody has claimed it. */
  async #describeOwner(accountId: string, { sessionId }: Person) {
    const { kysely } = this.#dependencies.database;
    const owner = await kysely
      .selectFrom('people')
      .select(['id', 'name', 'email', 'email_verified', 'two_factor_enabled'])
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    if (owner === undefined) return null;
    const { hasPassword, linked, passkeys } = await readSignInMethods(kysely, owner.id);
    return {
      name: owner.name,
      email: owner.email,
      isEmailVerified: Boolean(owner.email_verified),
      hasTwoFactor: Boolean(owner.two_factor_enabled),
      hasPassword,
      passkeys: passkeys.length,
      linked: linked.map(({ provider }) => provider),
      sessions: await listSessions(this.#dependencies, owner.id, sessionId),
    };
  }

  async #describeKeys(accountId: string, zone: string) {
    const keys = await this.#keys.list(accountId, zone);
    return keys.map(
      ({ id, name, isPlayground, status, rotatingUntilMs, secrets, usedAtMs, spentTodayUsd, spentMonthUsd, spentTotalUsd }) => ({
        id,
        name,
        isPlayground,
        status,
        rotatingUntilMs,
        secrets: secrets.map(({ shown }) => shown),
        usedAtMs,
        spentTodayUsd,
        spentMonthUsd,
        spentTotalUsd,
      }),
    );
  }
}

function describePlan(subscription: Subscription | undefined) {
  if (subscription === undefined) return null;
  const { plan, status, paysBy, periodEndMs, endsWithPeriod, reason, includedGiven, includedLeft } = subscription;
  return {
    name: plan.name,
    status,
    paysBy,
    periodEndMs,
    endsWithPeriod,
    reason,
    includedUsd: formatUsd(includedGiven),
    includedLeftUsd: formatUsd(includedLeft),
  };
}
