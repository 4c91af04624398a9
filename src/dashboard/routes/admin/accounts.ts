import { Hono } from 'hono';
import { z } from 'zod';
import { listAccounts, type ListedAccount } from '../../../accounts/account-list.ts';
import { formatUsd } from '../../../ledger/money.ts';
import type { Env, Parts } from '../../parts.ts';
import { zoneShape } from '../../usage-query.ts';
import { validate } from '../../validate.ts';
import { AccountDesk } from './account-desk.ts';

const PAGE_ROWS = 50;
const TEXT_CHARS_MAX = 200;
const REASON_CHARS_MAX = 500;

const query = z.object({
  q: z.string().trim().max(TEXT_CHARS_MAX).optional(),
  status: z.enum(['active', 'suspended', 'closed']).optional(),
  before: z
    .string()
    .regex(/^acct_[0-9a-z]{1,80}$/u, 'is not a page')
    .optional(),
});

const reasonShape = z.string().trim().min(1, 'is missing').max(REASON_CHARS_MAX);
const statusSchema = z.strictObject({ status: z.enum(['active', 'suspended']), reason: reasonShape });

/** All accounts, and what operators do to them. */
export function accountsRoutes(parts: Parts) {
  const { kysely } = parts.database;
  const desk = new AccountDesk(parts);
  return new Hono<Env>()
    .get('/', validate('query', query), async (c) => {
      const { q, status, before } = c.req.valid('query');
      const { accounts, next } = await listAccounts(kysely, { text: q, status }, { before, rowsMax: PAGE_ROWS });
      return c.json({ accounts: accounts.map(accountJson), next: next ?? null });
    })
    .get('/:id', validate('query', z.object({ zone: zoneShape })), async (c) => {
      const account = await desk.find(c.req.param('id'));
      return c.json(await desk.show(account, { person: c.get('person'), zone: c.req.valid('query').zone }));
    })
    .put('/:id/status', validate('json', statusSchema), async (c) => {
      const { status, reason } = c.req.valid('json');
      const account = await desk.findOther(c.req.param('id'), c.get('person'));
      await desk.accounts.setStatus(account, status, { actor: c.get('person').email, reason });
      return c.json({ isDone: true });
    });
}

function accountJson({ id, email, status, isAdmin, available, held, plan, createdAtMs, lastRequestAtMs }: ListedAccount) {
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
