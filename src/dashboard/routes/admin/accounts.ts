import { Hono } from 'hono';
import { z } from 'zod';
import { listAccounts, type ListedAccount } from '../../../accounts/account-list.ts';
import { lineOfText } from '../../../accounts/line-of-text.ts';
import { formatUsd, type Nanos } from '../../../ledger/money.ts';
import { ApiError } from '../../api-error.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import { zoneShape } from '../../usage-query.ts';
import { PAGE_ROWS, usdShape, validate } from '../../validate.ts';
import { AccountDesk } from './account-desk.ts';

const TEXT_CHARS_MAX = 200;
const REASON_CHARS_MAX = 500;

const query = z.object({
  q: lineOfText.max(TEXT_CHARS_MAX).optional(),
  status: z.enum(['active', 'suspended', 'closed']).optional(),
  before: z
    .string()
    .regex(/^acct_[0-9a-z]{1,80}$/u, 'is not a page cursor')
    .optional(),
});

const reasonShape = lineOfText.min(1, 'is missing').max(REASON_CHARS_MAX);
/**
 * A positive amount is a credit, a negative one a debit. The form generates a new name for each confirmation, so that it is posted once.
 */
const creditSchema = z.strictObject({
  usd: usdShape('must be an amount such as 25 or -12.50, and at most a million', isCredit),
  reason: reasonShape,
  expiresAtMs: z.number().int().optional(),
  name: z.string().regex(/^[0-9a-f]{32}$/u, 'is not 32 hexadecimal digits'),
});
const statusSchema = z.strictObject({ status: z.enum(['active', 'suspended']), reason: reasonShape });
const operatorSchema = z.strictObject({ isOperator: z.boolean() });

/** All accounts, and the operators' actions on them. */
export function adminAccountRoutes(dependencies: Dependencies) {
  const { kysely } = dependencies.database;
  const desk = new AccountDesk(dependencies);
  return new Hono<Env>()
    .get('/', validate('query', query), async (c) => {
      const { q, status, before } = c.req.valid('query');
      const { rows, next } = await listAccounts(kysely, { text: q, status }, { before, rowsMax: PAGE_ROWS });
      return c.json({ accounts: rows.map(describeAccount), next: next ?? null });
    })
    .get('/:id', validate('query', z.object({ zone: zoneShape })), async (c) => {
      const account = await desk.find(c.req.param('id'));
      return c.json(await desk.show(account, { person: c.get('person'), zone: c.req.valid('query').zone }));
    })
    .post('/:id/credit', validate('json', creditSchema), async (c) => {
      const { usd: amount, ...note } = c.req.valid('json');
      if (amount < 0n && note.expiresAtMs !== undefined)
        throw new ApiError('invalid', 'Only credit can expire, not a debit.', 'expiresAtMs');
      if (note.expiresAtMs !== undefined && note.expiresAtMs <= Date.now())
        throw new ApiError('invalid', 'The expiry must be in the future.', 'expiresAtMs');
      const account = await desk.findOpen(c.req.param('id'));
      const outcome = await desk.accounts.credit(account, amount, { ...note, actor: c.get('person').email });
      if (outcome === 'name_taken')
        throw new ApiError('conflict', 'This form was already sent with different values. Check the latest movements, then start again.');
      return c.json({ isDone: true });
    })
    .put('/:id/status', validate('json', statusSchema), async (c) => {
      const { status, reason } = c.req.valid('json');
      const account = await desk.findOther(c.req.param('id'), c.get('person'));
      await desk.accounts.setStatus(account, status, { actor: c.get('person').email, reason });
      return c.json({ isDone: true });
    })
    .put('/:id/operator', validate('json', operatorSchema), async (c) => {
      const account = await desk.findOther(c.req.param('id'), c.get('person'));
      const outcome = await desk.accounts.setOperator(account, c.req.valid('json').isOperator, c.get('person').email);
      if (outcome === 'last_operator') throw new ApiError('conflict', 'This is the only operator. Make someone else an operator first.');
      return c.json({ isDone: true });
    })
    .delete('/:id/sessions', async (c) => {
      await desk.accounts.endSessions(await desk.find(c.req.param('id')), c.get('person').email);
      return c.json({ isDone: true });
    });
}

/** A larger manual credit is more likely a mistake. */
const CREDIT_MAX = 1_000_000_000_000_000n;

function isCredit(amount: Nanos): boolean {
  return amount !== 0n && amount <= CREDIT_MAX && amount >= -CREDIT_MAX;
}

function describeAccount({ id, email, status, isAdmin, available, held, plan, createdAtMs, lastRequestAtMs }: ListedAccount) {
  return {
    id,
    email,
    status,
    isOperator: isAdmin,
    availableUsd: formatUsd(available),
    heldUsd: formatUsd(held),
    plan: plan ?? null,
    createdAtMs,
    lastRequestAtMs: lastRequestAtMs ?? null,
  };
}
