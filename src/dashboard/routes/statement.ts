import { Hono } from 'hono';
import { z } from 'zod';
import { asNanos, formatUsd } from '../../ledger/money.ts';
import { readStatement, type StatementCursor, type StatementLine, type StatementQuery } from '../../ledger/statement.ts';
import { writeCsvLine } from '../../usage/csv.ts';
import { zoneWriter } from '../../usage/zone.ts';
import { download } from '../download.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { listShape, spanShape, zoneShape } from '../usage-query.ts';
import { validate } from '../validate.ts';

const PAGE_LINES_MAX = 200;
const EXPORT_LINES = 1000;

const shape = { from: spanShape.from.optional(), to: spanShape.to.optional(), kind: listShape };
/** The cursor from `next`: time, balance and id of a movement. */
const cursorShape = z
  .string()
  .regex(/^\d{1,16}\.-?\d{1,19}\..{1,200}$/u, 'is not a page cursor')
  .transform(readCursor)
  .optional();
const listQuery = z.object({ ...shape, after: cursorShape, limit: z.coerce.number().int().min(1).max(PAGE_LINES_MAX).default(50) });
const exportQuery = z.object({ ...shape, zone: zoneShape });

/** Every movement of an account's balance, newest first, each with the resulting balance. */
export function statementRoutes({ database: { kysely } }: Dependencies) {
  return new Hono<Env>()
    .get('/', validate('query', listQuery), async (c) => {
      const { from, to, kind, after, limit } = c.req.valid('query');
      const query = { linesMax: limit, after, kinds: kind, fromMs: from, toMs: to };
      const { lines, next } = await readStatement(kysely, c.get('person').accountId, query);
      return c.json({ lines: lines.map(describeLine), next: next === undefined ? null : writeCursor(next) });
    })
    .get('/export', validate('query', exportQuery), async (c) => {
      const { from, to, kind, zone } = c.req.valid('query');
      const pages = (after: StatementCursor | undefined): ReturnType<typeof readStatement> => {
        const query: StatementQuery = { linesMax: EXPORT_LINES, after, kinds: kind, fromMs: from, toMs: to };
        return readStatement(kysely, c.get('person').accountId, query);
      };
      return download('statement.csv', writeStatement(pages, zone));
    });
}

/** Describes a movement for the browser. */
export function describeLine({ id, atMs, kind, reason, amount, balance }: StatementLine) {
  return { id, atMs, kind, reason, amountUsd: formatUsd(amount), balanceUsd: formatUsd(balance) };
}

async function* writeStatement(
  readPage: (after: StatementCursor | undefined) => ReturnType<typeof readStatement>,
  zone: string,
): AsyncGenerator<string> {
  const writeTime = zoneWriter(zone);
  yield writeCsvLine(['id', 'time', 'zone', 'kind', 'reason', 'amount_usd', 'balance_usd']);
  let after: StatementCursor | undefined;
  do {
    const { lines, next } = await readPage(after);
    yield lines
      .map(({ id, atMs, kind, reason, amount, balance }) =>
        writeCsvLine([id, writeTime(atMs), zone, kind, reason, formatUsd(amount), formatUsd(balance)]),
      )
      .join('');
    after = next;
  } while (after !== undefined);
}

function writeCursor({ atMs, balance, id }: StatementCursor): string {
  return `${atMs}.${balance}.${id}`;
}

function readCursor(text: string): StatementCursor {
  const [atMs = '', balance = '', ...id] = text.split('.');
  return { atMs: Number(atMs), balance: asNanos(BigInt(balance)), id: id.join('.') };
}
