import type { OpenDatabase } from '../database/connect.ts';
import { countRequests, type CountedDimension } from './counted.ts';
import type { Dimension } from './dimensions.ts';
import { dimensionsOf } from './request-filter.ts';
import { addFound, ofStatus, readSums, type FoundSums, type Sums, type SumsBySpan, type SumsFilter, type SumsQuery } from './sums.ts';
import { byKeys, readTags, type KeyTags, type TagFilter } from './tags.ts';
import type { Group } from './vocabulary.ts';
import type { Span } from './zone.ts';

/** Which requests a report covers. */
export interface ReportFilter extends TagFilter {
  readonly status?: 'ok' | 'error' | undefined;
  /** The end user they were made for. */
  readonly endUser?: string | undefined;
}

/** What the cells of a report are read for. */
export interface CellsQuery {
  readonly accountId: string;
  /** One or two. */
  readonly groups: readonly Group[];
  readonly filter: ReportFilter;
}

/** The requests of one span that belong to the same series. */
export interface Cell {
  /** The index of the span. */
  readonly n: number;
  /** The values they share in the database, one per dimension. */
  readonly values: readonly string[];
  readonly status: 'ok' | 'error' | undefined;
  /** The series they belong to, each with one name per group. Several if their keys have several tags. */
  readonly names: readonly (readonly string[])[];
  readonly sums: Sums;
}

/** The data of a report: the cells of its series, and the total of each span. */
export interface Cells {
  readonly cells: readonly Cell[];
  readonly totals: readonly Sums[];
}

type ReadCells = CellsQuery & { readonly isCounted: boolean };

/** Reads the cells of a report, from roll-ups or from the requests themselves, which know more. */
export class CellReader {
  readonly #database: OpenDatabase;
  readonly #query: ReadCells;
  readonly #tags: KeyTags;
  readonly #by: readonly CountedDimension[];
  readonly #filter: SumsFilter;

  private constructor(database: OpenDatabase, query: ReadCells, tags: KeyTags) {
    this.#database = database;
    this.#query = query;
    this.#tags = tags;
    const by = new Set(query.groups.map((group) => (group === 'tag' ? 'key' : group)));
    this.#by = [...by].filter((dimension) => query.isCounted || isRolledUp(dimension));
    this.#filter = byKeys({ ...dimensionsOf(query.filter), tag: query.filter.tag }, tags);
  }

  static async open(database: OpenDatabase, query: ReadCells): Promise<CellReader> {
    const needsTags = query.groups.includes('tag') || query.filter.tag !== undefined;
    const tags = needsTags ? await readTags(database.kysely, query.accountId) : new Map<string, string[]>();
    return new CellReader(database, query, tags);
  }

  /** Reads the cells of some spans, with all sums or some. Members of a class are merged, under the values of any one of them. */
  async read(spans: readonly Span[], { classes, sums }: Pick<SumsQuery, 'classes' | 'sums'> = {}): Promise<Cells> {
    const by = this.#by.filter(isRolledUp);
    const query = { accountId: this.#query.accountId, by, filter: this.#filter, spans, classes, sums };
    return this.#toCells(await readSums(this.#database, query));
  }

  /** Counts the cells of spans that consist of whole steps, from the requests themselves. */
  async count(spans: readonly Span[], stepMs: number): Promise<Cells> {
    const { accountId, filter } = this.#query;
    const query = { accountId, spans, by: this.#by, filter: this.#filter, endUser: filter.endUser, status: filter.status };
    return this.#toCells(await countRequests(this.#database, query, stepMs));
  }

  #toCells(found: SumsBySpan): Cells {
    return {
      cells: found.flatMap((inSpan, n) =>
        inSpan.filter(({ sums }) => this.#wanted(sums).requests > 0).flatMap((one) => this.#split(one, n)),
      ),
      totals: found.map((inSpan) => this.#wanted(addFound(inSpan))),
    };
  }

  /** Returns one cell, or one for failed and one for successful requests if the database did not separate them. Either may be empty. */
  #split({ values, sums }: FoundSums, n: number): Cell[] {
    const isMixed = this.#query.groups.includes('status') && !this.#query.isCounted;
    const wanted = this.#wanted(sums);
    if (!isMixed) return [{ n, values, status: undefined, names: this.#namesOf(values, undefined), sums: wanted }];
    return STATUSES.map((status) => ({ n, values, status, names: this.#namesOf(values, status), sums: ofStatus(wanted, status) }));
  }

  /** Applies the status filter to sums. Counted sums are already filtered. */
  #wanted(sums: Sums): Sums {
    const { status } = this.#query.filter;
    return this.#query.isCounted || status === undefined ? sums : ofStatus(sums, status);
  }

  #namesOf(values: FoundSums['values'], status: Cell['status']): readonly (readonly string[])[] {
    const [first, second] = this.#query.groups.map((group) => this.#valuesOf(group, values, status));
    if (first === undefined) return [];
    return second === undefined ? first.map((one) => [one]) : first.flatMap((one) => second.map((other) => [one, other]));
  }

  #valuesOf(group: Group, values: FoundSums['values'], status: Cell['status']): readonly string[] {
    if (group === 'status' && status !== undefined) return [status];
    const value = values[this.#by.indexOf(group === 'tag' ? 'key' : group)] ?? '';
    if (group !== 'tag') return [value];
    const tags = this.#tags.get(value) ?? [];
    return tags.length === 0 ? NO_TAG : tags;
  }
}

function isRolledUp(dimension: CountedDimension): dimension is Dimension {
  return dimension !== 'end_user' && dimension !== 'status';
}

const STATUSES = ['ok', 'error'] as const;

/** Requests of a key without tags belong to the series without a name. */
const NO_TAG: readonly string[] = [''];
