import type { OpenDatabase } from '../database/connect.ts';
import { countRequests, type CountedDimension, type CountedQuestion } from './counted.ts';
import { addFound, ofStatus, readSums, type FoundSums, type Sums, type SumsBySpan, type SumsQuestion } from './sums.ts';
import { byKeys, readTags, type KeyTags, type TagFilter } from './tags.ts';
import type { Group } from './vocabulary.ts';
import type { Span } from './zone.ts';

/** Which requests a report is about. */
export interface ReportFilter extends TagFilter {
  readonly status?: 'ok' | 'error' | undefined;
  /** For whom they were made. */
  readonly endUser?: string | undefined;
}

export interface CellsQuestion {
  readonly accountId: string;
  /** One or two. */
  readonly groups: readonly Group[];
  readonly filter: ReportFilter;
}

/** Requests of one span that are in the same series. */
export interface Cell {
  /** The number of the span. */
  readonly n: number;
  /** What they have in common in the database: one value for each dimension. */
  readonly values: readonly string[];
  readonly status: 'ok' | 'error' | undefined;
  /** The series that they are in, each with a name for every group: several where keys have several tags. */
  readonly names: readonly (readonly string[])[];
  readonly sums: Sums;
}

/** What a report is made of: the cells of its series, and what each span comes to. */
export interface Cells {
  readonly cells: readonly Cell[];
  readonly totals: readonly Sums[];
}

/** Reads the cells that a report is made of. */
export class CellReader {
  readonly #database: OpenDatabase;
  readonly #question: CellsQuestion;
  readonly #tags: KeyTags;
  readonly #asked: Omit<CountedQuestion, 'spans'>;

  private constructor(database: OpenDatabase, question: CellsQuestion, tags: KeyTags) {
    const { model, key, provider, tag, endUser } = question.filter;
    const filter = { ...(model && { model }), ...(key && { key }), ...(provider && { provider }), tag };
    this.#database = database;
    this.#question = question;
    this.#tags = tags;
    const by = [...new Set(question.groups.flatMap(dimensionsOf))];
    this.#asked = { accountId: question.accountId, by, filter: byKeys(filter, tags), endUser };
  }

  static async open(database: OpenDatabase, question: CellsQuestion): Promise<CellReader> {
    const needsTags = question.groups.includes('tag') || question.filter.tag !== undefined;
    return new CellReader(database, question, needsTags ? await readTags(database.kysely, question.accountId) : new Map());
  }

  /** The cells of some spans. */
  async read(spans: readonly Span[]): Promise<Cells> {
    return this.#toCells(await readSums(this.#database, { ...this.#rolledUp(), spans }));
  }

  /** The cells of some spans, each made of such steps, from the requests themselves. */
  async count(spans: readonly Span[], stepMs: number): Promise<Cells> {
    return this.#toCells(await countRequests(this.#database, { ...this.#asked, spans }, stepMs));
  }

  /** The cells of some spans, but those of a class together, under the values of any of them, and only with the sums that are asked for. */
  async readClasses(spans: readonly Span[], { classes, sums }: Pick<SumsQuestion, 'classes' | 'sums'>): Promise<Cells> {
    return this.#toCells(await readSums(this.#database, { ...this.#rolledUp(), spans, classes, sums }));
  }

  #rolledUp(): Pick<SumsQuestion, 'accountId' | 'by' | 'filter'> {
    const { accountId, by, filter } = this.#asked;
    return { accountId, filter, by: by.filter((dimension) => dimension !== 'end_user') };
  }

  #toCells(found: SumsBySpan): Cells {
    const { status } = this.#question.filter;
    return {
      cells: found.flatMap((inSpan, n) => inSpan.flatMap((one) => this.#split(one, n))).filter(({ sums }) => sums.requests > 0),
      totals: found.map((inSpan) => narrow(addFound(inSpan), status)),
    };
  }

  /** A cell, or one for what failed and one for what did not. */
  #split({ values, sums }: FoundSums, n: number): Cell[] {
    const { groups, filter } = this.#question;
    const statuses = groups.includes('status') ? (['ok', 'error'] as const) : [undefined];
    const wanted = narrow(sums, filter.status);
    return statuses.map((status) => ({ n, values, status, names: this.#namesOf(values, status), sums: narrow(wanted, status) }));
  }

  #namesOf(values: FoundSums['values'], status: Cell['status']): readonly (readonly string[])[] {
    const [first, second] = this.#question.groups.map((group) => this.#valuesOf(group, values, status));
    if (first === undefined) return [];
    return second === undefined ? first.map((one) => [one]) : first.flatMap((one) => second.map((other) => [one, other]));
  }

  #valuesOf(group: Group, values: FoundSums['values'], status: Cell['status']): readonly string[] {
    if (group === 'status') return [status ?? ''];
    const value = values[this.#asked.by.indexOf(group === 'tag' ? 'key' : group)] ?? '';
    if (group !== 'tag') return [value];
    const tags = this.#tags.get(value) ?? [];
    return tags.length === 0 ? NO_TAG : tags;
  }
}

/** Requests of a key without tags are in the series without a name. */
const NO_TAG: readonly string[] = [''];

/** What requests must be told apart by for a group. Whether they failed is counted for all of them. */
function dimensionsOf(group: Group): CountedDimension[] {
  if (group === 'status') return [];
  return group === 'tag' ? ['key'] : [group];
}

/** True where roll-ups cannot answer: they do not know for whom a request was made. */
export function isOfEndUsers({ groups, filter }: Pick<CellsQuestion, 'groups' | 'filter'>): boolean {
  return groups.includes('end_user') || filter.endUser !== undefined;
}

function narrow(sums: Sums, status: 'ok' | 'error' | undefined): Sums {
  return status === undefined ? sums : ofStatus(sums, status);
}
