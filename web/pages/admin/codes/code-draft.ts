import { addDays, dayStartMs } from '../../../time.ts';

/** Promo codes as edited in the form: texts as typed, under the server's field names. */
export interface CodeDraft {
  readonly kind: 'credit' | 'plan' | 'bonus';
  readonly which: 'many' | 'own';
  readonly planId: string;
  readonly typed: { readonly [Name in FieldName]?: string };
}

interface FormField {
  readonly as: 'text' | 'count' | 'usd' | 'day';
  /** Choices that show this field; all of them by default. */
  readonly of?: readonly string[];
  readonly isOptional?: boolean;
}

/** Fields of the form. */
export const FORM_FIELDS = {
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
} as const satisfies Readonly<Record<string, FormField>>;
export type FieldName = keyof typeof FORM_FIELDS;

export const EMPTY_DRAFT: CodeDraft = {
  kind: 'credit',
  which: 'many',
  planId: '',
  typed: { periods: '1', count: '1', uses: '1', perAccount: '1' },
};

/** Tells whether a field is shown with the current choices. */
export function isShown({ kind, which }: CodeDraft, name: FieldName): boolean {
  const { of }: FormField = FORM_FIELDS[name];
  return of === undefined || of.includes(kind) || of.includes(which);
}

/** Returns the order to send: all fields shown and filled in. A custom code is sent even if empty, or the server would generate one. */
export function orderOf(draft: CodeDraft, zone: string): Readonly<Record<string, string | number>> {
  const lines = (Object.keys(FORM_FIELDS) as FieldName[]).filter((name) => isShown(draft, name));
  const filled = lines.filter((name) => name === 'code' || (draft.typed[name] ?? '').trim() !== '');
  const order = filled.map((name) => [name, read(name, (draft.typed[name] ?? '').trim(), zone)] as const);
  return { ...Object.fromEntries(order), ...(draft.kind === 'plan' && draft.planId !== '' && { planId: draft.planId }) };
}

/** Converts a typed value. Days are in the user's time zone, and the last day counts to its end. */
function read(name: FieldName, typed: string, zone: string): string | number {
  const { as } = FORM_FIELDS[name];
  if (as === 'day') return dayStartMs(name === 'validToMs' ? addDays(typed, 1) : typed, zone);
  return as === 'count' ? Number(typed) : typed;
}

const TIME_DIGITS = 9;
const RANDOM_BYTES = 10;

/** Creates an id for an order, in the format of the server's ids. The same order sent twice is carried out once. */
export function makeOrderId(): string {
  const random = [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))].map((byte) => byte.toString(16).padStart(2, '0'));
  return Date.now().toString(36).padStart(TIME_DIGITS, '0') + random.join('');
}
