import type { Cell } from './report-cells.ts';
import { addSums, NO_SUMS, type Sums, type SumsClasses } from './sums.ts';

/** A series with its total in the current period and in the previous one. */
interface RankedSeries {
  /** Undefined for all other series together. */
  readonly names: readonly string[] | undefined;
  readonly count: number;
  readonly total: Sums;
  readonly former: Sums;
}

interface RankingOptions {
  readonly seriesMax: number;
  readonly weightOf: (sums: Sums) => number;
}

/** Cannot appear in any name. */
const SEPARATOR = '\u0000';

/**
 * Decides which series are shown by name, largest first, and which cells belong to which. Span 0 is the current period, span 1 the previous
 * one.
 */
export class Ranking {
  readonly series: readonly RankedSeries[];
  readonly #cells: readonly Cell[];
  readonly #places: ReadonlyMap<string, number>;
  readonly #hasOthers: boolean;

  constructor(cells: readonly Cell[], { seriesMax, weightOf }: RankingOptions) {
    this.#cells = cells;
    // Series that exist only in the previous period are left out.
    const all = gather(cells).filter(({ total }) => total.requests > 0);
    all.sort((one, other) => weightOf(other.total) - weightOf(one.total) || joined(one.names).localeCompare(joined(other.names)));
    // A line "others" for a single series would say less than its name.
    const cut = all.length === seriesMax + 1 ? all.length : Math.min(all.length, seriesMax);
    const shown = all.slice(0, cut);
    this.#hasOthers = all.length > cut;
    this.#places = new Map(shown.map(({ names }, index) => [joined(names), index]));
    this.series = this.#hasOthers ? [...shown, { names: undefined, count: all.length - cut, ...this.#sumOf(cut) }] : shown;
  }

  /** Groups database values that belong to the same series, so that the database can merge them. Values of no named series are the rest. */
  classes(): SumsClasses {
    const byValues = Map.groupBy(this.#cells, ({ values }) => joined(values));
    const bySeries = Map.groupBy(byValues.values(), (cells) => {
      const places = new Map(cells.map(({ status, names }) => [status, this.#seriesOf(names).join()]));
      return [places.get(undefined), places.get('ok'), places.get('error')].join(';');
    });
    const isRest = ([some]: readonly (readonly Cell[])[]): boolean =>
      (some ?? []).every(({ names }) => this.#seriesOf(names).every((place) => place === this.#places.size));
    const rest = [...bySeries.values()].find(isRest);
    const listed = [...bySeries.values()].filter((same) => !isRest(same));
    return { listed: listed.map((same) => same.map(valuesOf)), rest: rest?.map(valuesOf)[0] };
  }

  /** Returns the values of each series, one per span. */
  spread(cells: readonly Cell[], spanCount: number): Sums[][] {
    const values = this.series.map(() => Array.from({ length: spanCount }, () => NO_SUMS));
    for (const { n, names, sums } of cells)
      for (const place of this.#seriesOf(names)) {
        const list = values[place];
        if (list !== undefined) list[n] = addSums(list[n] ?? NO_SUMS, sums);
      }
    return values;
  }

  /** Returns the indexes of the series a cell belongs to. It counts once in "others", however many of those it belongs to. */
  #seriesOf(names: Cell['names']): number[] {
    const others = this.#hasOthers ? [this.#places.size] : [];
    return [...new Set(names.flatMap((name) => this.#places.get(joined(name)) ?? others))];
  }

  #sumOf(place: number): { readonly total: Sums; readonly former: Sums } {
    const own = this.#cells.filter(({ names }) => this.#seriesOf(names).includes(place));
    return { total: addCells(own, 0), former: addCells(own, 1) };
  }
}

function valuesOf([cell]: readonly Cell[]): readonly string[] {
  return cell?.values ?? [];
}

function gather(cells: readonly Cell[]): (RankedSeries & { readonly names: readonly string[] })[] {
  const groups = new Map<string, { names: readonly string[]; cells: Cell[] }>();
  for (const cell of cells)
    for (const names of cell.names) {
      const group = groups.get(joined(names));
      if (group === undefined) groups.set(joined(names), { names, cells: [cell] });
      else group.cells.push(cell);
    }
  return [...groups.values()].map(({ names, cells: own }) => ({ names, count: 1, total: addCells(own, 0), former: addCells(own, 1) }));
}

function addCells(cells: readonly Cell[], span: number): Sums {
  return cells.reduce((sum, { n, sums }) => (n === span ? addSums(sum, sums) : sum), NO_SUMS);
}

function joined(names: readonly string[]): string {
  return names.join(SEPARATOR);
}
