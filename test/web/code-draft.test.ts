import { describe, expect, test } from 'bun:test';
import { EMPTY_DRAFT, makeOrderId, orderOf } from '../../web/pages/admin/codes/code-draft.ts';

describe('the promo code form', () => {
  test('sends the filled-in fields of the chosen kind only', () => {
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

  test('sends an empty custom code, so the server refuses it instead of generating one', () => {
    expect(orderOf({ ...EMPTY_DRAFT, which: 'own' }, 'UTC')).toMatchObject({ code: '' });
  });

  test('reads days in the reader’s time zone and includes the whole last day', () => {
    const typed = { validFromMs: '2027-03-27', validToMs: '2027-03-28' };
    expect(orderOf({ ...EMPTY_DRAFT, typed }, 'Europe/Berlin')).toEqual({
      validFromMs: Date.parse('2027-03-26T23:00:00Z'),
      // Daylight saving time starts on that day.
      validToMs: Date.parse('2027-03-28T22:00:00Z'),
    });
  });

  test('gives an order an id in the usual format', () => {
    expect(makeOrderId()).toMatch(/^[0-9a-z]{29}$/u);
  });
});
