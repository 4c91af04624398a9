import { compact } from '../../../search-params.ts';
import { addDays, dayStartMs } from '../../../time.ts';

/** Codes as they stand in the form: texts as they were typed. */
export const EMPTY_DRAFT = {
  kind: 'credit' as 'credit' | 'plan' | 'bonus',
  which: 'many' as 'many' | 'own',
  creditUsd: '',
  planId: '',
  periods: '1',
  bonusPercent: '',
  bonusMaxUsd: '',
  creditDays: '',
  code: '',
  prefix: '',
  count: '1',
  campaign: '',
  uses: '1',
  perAccount: '1',
  newAccountDays: '',
  minimumTopUpUsd: '',
  from: '',
  to: '',
};
export type CodeDraft = typeof EMPTY_DRAFT;

/** What the server is told. A day counts to its end, in the reader's zone. */
export function orderOf(draft: CodeDraft, zone: string) {
  const { kind, which, from, to } = draft;
  return compact({
    creditUsd: text(draft.creditUsd, kind === 'credit'),
    planId: text(draft.planId, kind === 'plan'),
    periods: number(draft.periods, kind === 'plan'),
    bonusPercent: number(draft.bonusPercent, kind === 'bonus'),
    bonusMaxUsd: text(draft.bonusMaxUsd, kind === 'bonus'),
    creditDays: number(draft.creditDays, kind !== 'plan'),
    // Without a code one would be made up.
    code: which === 'own' ? draft.code : undefined,
    prefix: text(draft.prefix, which === 'many'),
    count: number(draft.count, which === 'many'),
    campaign: text(draft.campaign),
    uses: number(draft.uses),
    perAccount: number(draft.perAccount),
    newAccountDays: number(draft.newAccountDays),
    minimumTopUpUsd: text(draft.minimumTopUpUsd),
    validFromMs: from === '' ? undefined : dayStartMs(from, zone),
    validToMs: to === '' ? undefined : dayStartMs(addDays(to, 1), zone),
  });
}

/** What was typed; undefined where that is nothing, or belongs to another choice. */
function text(typed: string, isMeant = true): string | undefined {
  return isMeant && typed.trim() !== '' ? typed.trim() : undefined;
}

function number(typed: string, isMeant = true): number | undefined {
  return isMeant && typed !== '' ? Number(typed) : undefined;
}

const TIME_DIGITS = 9;
const RANDOM_BYTES = 10;

/** A name for an order, in the form of the server's ids: the same order, sent twice, is carried out once. */
export function makeOrderId(): string {
  const random = [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))].map((byte) => byte.toString(16).padStart(2, '0'));
  return Date.now().toString(36).padStart(TIME_DIGITS, '0') + random.join('');
}
