import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';
import { ceilToGrid, floorToGrid, readGrid, type Grid } from './grid.ts';
import type { Span } from './zone.ts';

/** A grid, and how far history is summed on it. */
export interface SummedGrid {
  readonly grid: Grid;
  readonly untilMs: number;
}

/** Returns the grids on which some of an account's history is summed. */
export async function readSummedGrids(database: Kysely<Tables>, accountId: string): Promise<SummedGrid[]> {
  const rows = await database.selectFrom('usage_past_until').select(['grid', 'until']).where('account_id', '=', accountId).execute();
  return rows.map(({ grid, until }) => ({ grid: readGrid(grid), untilMs: Number(until) })).filter(({ untilMs }) => untilMs > 0);
}

/** A part of a span: the span's number and the grid whose sums cover it. Without a grid it consists of quarter hours. */
export interface Piece extends Span {
  readonly n: number;
  readonly grid?: Grid;
}

/** Cuts spans into whole days and hours that are already summed, and the quarter hours before and after them. */
export function cutByGrids(
  spans: readonly Span[],
  grids: readonly SummedGrid[],
): { readonly history: readonly Piece[]; readonly quarters: readonly Piece[] } {
  const days = grids.filter(({ grid }) => grid.length === 'day');
  const hours = grids.filter(({ grid }) => grid.length === 'hour');
  const pieces = spans.flatMap((span, n) => {
    const byDay = cutOne({ ...span, n }, days);
    return byDay.flatMap((piece) => (piece.grid === undefined ? cutOne(piece, hours) : [piece]));
  });
  return { history: pieces.filter(({ grid }) => grid !== undefined), quarters: pieces.filter(({ grid }) => grid === undefined) };
}

/** Returns the largest part that one grid covers, and what is left on both sides. */
function cutOne(piece: Piece, grids: readonly SummedGrid[]): Piece[] {
  const { n, fromMs, toMs } = piece;
  let best: Required<Piece> | undefined;
  for (const { grid, untilMs } of grids) {
    const covered = { n, grid, fromMs: ceilToGrid(fromMs, grid), toMs: floorToGrid(Math.min(toMs, untilMs), grid) };
    if (covered.toMs - covered.fromMs > (best === undefined ? 0 : best.toMs - best.fromMs)) best = covered;
  }
  if (best === undefined) return [piece];
  const rest = [
    { n, fromMs, toMs: best.fromMs },
    { n, fromMs: best.toMs, toMs },
  ];
  return [best, ...rest.filter((part) => part.fromMs < part.toMs)];
}
