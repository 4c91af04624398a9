import { ceilToGrid, floorToGrid, type Grid } from './grid.ts';
import type { Span } from './zone.ts';

/** A grid, and how far the past is summed up on it. */
export interface SummedGrid {
  readonly grid: Grid;
  readonly untilMs: number;
}

/** A part of a span: the number of the span, and the grid whose sums tell of it; without one it is made of quarter-hours. */
export interface Piece extends Span {
  readonly n: number;
  readonly grid?: Grid;
}

/** Cuts spans into whole days and hours that are summed up, and the quarter-hours before and after them. */
export function cutByGrids(
  spans: readonly Span[],
  grids: readonly SummedGrid[],
): { readonly past: readonly Piece[]; readonly quarters: readonly Piece[] } {
  const days = grids.filter(({ grid }) => grid.length === 'day');
  const hours = grids.filter(({ grid }) => grid.length === 'hour');
  const pieces = spans.flatMap((span, n) => {
    const byDay = cutOne({ ...span, n }, days);
    return byDay.flatMap((piece) => (piece.grid === undefined ? cutOne(piece, hours) : [piece]));
  });
  return { past: pieces.filter(({ grid }) => grid !== undefined), quarters: pieces.filter(({ grid }) => grid === undefined) };
}

/** The part that a grid can tell of, of the grid that can tell most, and what is left of the piece on both sides. */
function cutOne(piece: Piece, grids: readonly SummedGrid[]): Piece[] {
  const { n, fromMs, toMs } = piece;
  let best: Required<Piece> | undefined;
  for (const { grid, untilMs } of grids) {
    const told = { n, grid, fromMs: ceilToGrid(fromMs, grid), toMs: floorToGrid(Math.min(toMs, untilMs), grid) };
    if (told.toMs - told.fromMs > (best === undefined ? 0 : best.toMs - best.fromMs)) best = told;
  }
  if (best === undefined) return [piece];
  const rest = [
    { n, fromMs, toMs: best.fromMs },
    { n, fromMs: best.toMs, toMs },
  ];
  return [best, ...rest.filter((part) => part.fromMs < part.toMs)];
}
