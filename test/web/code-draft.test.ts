import { describe, expect, test } from 'bun:test';
import { EMPTY_DRAFT, makeOrderId, orderOf } from '../../web/pages/admin/codes/code-draft.ts';

describe('the form of promo codes', () => {
  test('sends what was filled in, and nothing that belongs to another choice', () => {
    const typed = {
      ...EMPTY_DRAFT.typed,
      creditUsd: ' 5 ',
      bonusMaxUsd: '50',
      bonusPercent: '20',
      prefix: 'spring',
      code: 'mine',
      campaign: ' ',
    };
    expect(orderOf({ ...EMPTY_DRAFT, typed }, 'UTC')).toEqual({ creditUsd: '5', count: 1, prefix: 'spring', uses: 1, perAccount: 1 });
    expect(orderOf({ ...EMPTY_DRAFT, kind: 'bonus', which: 'own', typed }, 'UTC')).toEqual({
      bonusPercent: 20,
      bonusMaxUsd: '50',
      code: 'mine',
      uses: 1,
      perAccount: 1,
    });
    expect(orderOf({ ...EMPTY_DRAFT, kind: 'plan', planId: 'pro', typed }, 'UTC')).toMatchObject({ planId: 'pro', periods: 1 });
  });

  test('an empty code of one’s own is sent, so that it is refused and none is made up', () => {
    expect(orderOf({ ...EMPTY_DRAFT, which: 'own' }, 'UTC')).toMatchObject({ code: '' });
  });

  test('days are those of the reader, and the last one counts to its end', () => {
    const typed = { validFromMs: '2027-03-27', validToMs: '2027-03-28' };
    expect(orderOf({ ...EMPTY_DRAFT, typed }, 'Europe/Berlin')).toEqual({
      validFromMs: Date.parse('2027-03-26T23:00:00Z'),
      // Summer time began on that day.
      validToMs: Date.parse('2027-03-28T22:00:00Z'),
    });
  });

  test('an order has a name of the form that ids have', () => {
    expect(makeOrderId()).toMatch(/^[0-9a-z]{29}$/u);
  });
});
