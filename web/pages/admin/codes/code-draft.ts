import { addDays, dayStartMs } from '../../../time.ts';

/** Codes as they stand in the form: texts as they were typed, by the names that the server has for them. */
export interface CodeDraft {
  readonly kind: 'credit' | 'plan' | 'bonus';
  readonly which: 'many' | 'own';
  readonly planId: string;
  readonly typed: { readonly [Name in LineName]?: string };
}

interface Line {
  readonly as: 'text' | 'count' | 'usd' | 'day';
  /** For which choices it is there; for all, unless told. */
  readonly of?: readonly string[];
  readonly isOptional?: boolean;
}

/** The boxes of the form. */
export const LINES = {
  creditUsd: { as: 'usd', of: ['credit'] },
  periods: { as: 'count', of: ['plan'] },
  bonusPercent: { as: 'count', of: ['bonus'] },
  bonusMaxUsd: { as: 'usd', of: ['bonus'] },
  creditDays: { as: 'count', of: ['credit', 'bonus'], isOptional: true },
  code: { as: 'text', of: ['own'] },
  count: { as: 'count', of: ['many'] },
  prefix: { as: 'text', of: ['many'], isOptional: true },
  campaign: { as: 'text', isOptional: true },
  uses: { as: 'count' },
  perAccount: { as: 'count' },
  newAccountDays: { as: 'count', isOptional: true },
  minimumTopUpUsd: { as: 'usd', isOptional: true },
  validFromMs: { as: 'day', isOptional: true },
  validToMs: { as: 'day', isOptional: true },
} as const satisfies Readonly<Record<string, Line>>;
export type LineName = keyof typeof LINES;

export const EMPTY_DRAFT: CodeDraft = {
  kind: 'credit',
  which: 'many',
  planId: '',
  typed: { periods: '1', count: '1', uses: '1', perAccount: '1' },
};

/** Whether a box is there, with these choices. */
export function isThere({ kind, which }: CodeDraft, name: LineName): boolean {
  const { of }: Line = LINES[name];
  return of === undefined || of.includes(kind) || of.includes(which);
}

/** What the server is told: what is there and was filled in, and a code of one's own also where it was not, or one would be made up. */
export function orderOf(draft: CodeDraft, zone: string): Readonly<Record<string, string | number>> {
  const lines = (Object.keys(LINES) as LineName[]).filter((name) => isThere(draft, name));
  const filled = lines.filter((name) => name === 'code' || (draft.typed[name] ?? '').trim() !== '');
  const order = filled.map((name) => [name, read(name, (draft.typed[name] ?? '').trim(), zone)] as const);
  return { ...Object.fromEntries(order), ...(draft.kind === 'plan' && draft.planId !== '' && { planId: draft.planId }) };
}

/** Days are the reader's, and the last one counts to its end. */
function read(name: LineName, typed: string, zone: string): string | number {
  const { as } = LINES[name];
  if (as === 'day') return dayStartMs(name === 'validToMs' ? addDays(typed, 1) : typed, zone);
  return as === 'count' ? Number(typed) : typed;
}

const TIME_DIGITS = 9;
const RANDOM_BYTES = 10;

/** A name for an order, in the form of the server's ids: the same order, sent twice, is carried out once. */
export function makeOrderId(): string {
  const random = [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))].map((byte) => byte.toString(16).padStart(2, '0'));
  return Date.now().toString(36).padStart(TIME_DIGITS, '0') + random.join('');
}
