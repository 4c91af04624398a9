import { sql } from 'kysely';
import type { OpenDatabase } from '../database/connect.ts';
import { ROLLUP_SUMS } from '../ledger/checks.ts';
import { asNanos, type Nanos } from '../ledger/money.ts';
import { cutByGrids, readSummedGrids, type Piece, type SummedGrid } from './cut-by-grids.ts';
import { gridName } from './grid.ts';
import { ADDED_UP } from './history.ts';
import { countedRows, WHOLE_SERVICE, findKept, HOURS_KEPT_MS } from './service-history.ts';
import { toSums, type Sums, type SumsRow } from './sums.ts';
import type { Span } from './zone.ts';

/** The sums of one model at one provider, in the span with index `n`. The provider is empty if none answered. */
export interface ServiceSums {
  readonly n: number;
  readonly model: string;
  readonly provider: string;
  readonly sums: Sums;
}

/** Sums the requests of all accounts in non-overlapping spans of the last month: historical sums, plus the requests since. */
export async function readServiceSums({ kysely }: OpenDatabase, spans: readonly Span[]): Promise<readonly ServiceSums[]> {
  const { history, quarters } = cutByGrids(spans, await readSummedGrids(kysely, WHOLE_SERVICE));
  const keptMs = await findKept(kysely);
  const found: ServiceSums[] = [];
  const read = async (pieces: readonly Piece[], queryFor: (run: Piece) => ReturnType<typeof sql<ServiceRow>>): Promise<void> => {
    for (const run of joinPieces(pieces)) {
      const { rows } = await queryFor(run).execute(kysely);
      for (const row of rows) {
        const { model, provider } = row;
        found.push({ n: pieces.find((piece) => isIn(piece, Number(row.start_at)))?.n ?? 0, model, provider, sums: toSums(row) });
      }
    }
  };
  await read(
    history,
    ({ grid, fromMs, toMs }) => sql<ServiceRow>`SELECT start_at, model, provider, ${sql.join(ROLLUP_SUMS.map((name) => sql.ref(name)))}
      FROM usage_past WHERE account_id = ${WHOLE_SERVICE} AND grid = ${nameOf(grid)} AND dimension = 'model_provider'
      AND start_at >= ${fromMs} AND start_at < ${toMs}`,
  );
  await read(
    quarters,
    ({ fromMs, toMs }) => sql<ServiceRow>`SELECT quarter_hour AS start_at, model, provider, ${ADDED_UP}
      FROM (${countedRows({ fromMs, toMs, keptMs })}) AS counted GROUP BY 1, 2, 3`,
  );
  return found;
}

type ServiceRow = SumsRow & { readonly start_at: bigint; readonly model: string; readonly provider: string };

/** The sums of one account. */
export interface AccountSums {
  readonly accountId: string;
  readonly requests: number;
  readonly cost: Nanos;
}

/** Accounts with at least one request. */
export interface ActiveAccounts {
  readonly count: number;
  /** Those that were charged most. */
  readonly top: readonly AccountSums[];
}

interface Ranking {
  readonly rowsMax: number;
  readonly nowMs: number;
}

/** Sums the requests of each account over non-overlapping spans of the last month. */
export async function readActiveAccounts(
  { kysely }: OpenDatabase,
  spans: readonly Span[],
  { rowsMax, nowMs }: Ranking,
): Promise<ActiveAccounts> {
  const { history, quarters } = cutForAccounts(spans, await readSummedGrids(kysely, WHOLE_SERVICE), nowMs);
  const keptMs = await findKept(kysely);
  const parts = [
    ...joinPieces(history).map(
      ({ grid, fromMs, toMs }) => sql`SELECT account_id, requests, cost FROM account_past
        WHERE grid = ${nameOf(grid)} AND start_at >= ${fromMs} AND start_at < ${toMs}`,
    ),
    ...joinPieces(quarters).map(
      ({ fromMs, toMs }) => sql`SELECT account_id, requests, cost FROM (${countedRows({ fromMs, toMs, keptMs })}) AS counted`,
    ),
  ];
  const { rows } = await sql<AccountRow>`
    SELECT account_id, SUM(requests) AS requests, SUM(cost) AS cost, COUNT(*) OVER () AS active
    FROM (${sql.join(parts, sql` UNION ALL `)}) AS parts GROUP BY account_id ORDER BY 3 DESC, 2 DESC, 1 LIMIT ${rowsMax}`.execute(kysely);
  return {
    count: Number(rows[0]?.active ?? 0),
    top: rows.map((row) => ({ accountId: row.account_id, requests: Number(row.requests), cost: asNanos(row.cost) })),
  };
}

interface AccountRow {
  readonly account_id: string;
  readonly requests: bigint;
  readonly cost: bigint;
  readonly active: bigint;
}

/** For single accounts there are daily sums, and hourly sums of the last days. */
function cutForAccounts(spans: readonly Span[], grids: readonly SummedGrid[], nowMs: number): ReturnType<typeof cutByGrids> {
  const ofLength = (length: 'day' | 'hour'): SummedGrid[] => grids.filter(({ grid }) => grid.length === length);
  const isRecent = ({ fromMs }: Span): boolean => fromMs >= nowMs - HOURS_KEPT_MS / 2;
  const byDay = cutByGrids(spans, ofLength('day'));
  const byHour = cutByGrids(byDay.quarters.filter(isRecent), ofLength('hour'));
  return {
    history: [...byDay.history, ...byHour.history],
    quarters: [...byDay.quarters.filter((piece) => !isRecent(piece)), ...byHour.quarters],
  };
}

/** Joins adjacent pieces of the same grid, to read them at once. */
function joinPieces(pieces: readonly Piece[]): Piece[] {
  const runs: Piece[] = [];
  for (const piece of pieces.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const last = runs.at(-1);
    if (last !== undefined && last.toMs === piece.fromMs && nameOf(last.grid) === nameOf(piece.grid))
      runs[runs.length - 1] = { ...last, toMs: piece.toMs };
    else runs.push(piece);
  }
  return runs;
}

function nameOf(grid: Piece['grid']): string {
  return grid === undefined ? '' : gridName(grid);
}

function isIn({ fromMs, toMs }: Span, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}
