import { beforeEach, describe, expect, test } from 'bun:test';
import { GatewayError, type ErrorName } from '../../src/errors.ts';
import { RouteHealth } from '../../src/gateway/route-health.ts';

const EAST = { provider: 'east', model: 'large' };
const WEST = { provider: 'west', model: 'large' };

describe('the health of routes', () => {
  let nowMs: number;
  let told: string[];
  let health: RouteHealth;

  beforeEach(() => {
    nowMs = 0;
    told = [];
    const events = {
      onOut: ({ provider }: { provider: string }, pauseMs: number) => void told.push(`${provider} out ${pauseMs}`),
      onBack: ({ provider }: { provider: string }) => void told.push(`${provider} back`),
    };
    health = new RouteHealth(events, () => nowMs);
  });

  const fail = (times = 1, name: ErrorName = 'provider_error', retryAfterSeconds = 1): void => {
    for (let time = 0; time < times; time += 1) health.failed(EAST, new GatewayError(name, 'no', { retryAfterSeconds }));
  };

  test('five failures in a row leave a route out, and no other', () => {
    fail(4);
    expect(health.mayTry(EAST)).toBeTrue();
    fail();
    expect(health.mayTry(EAST)).toBeFalse();
    expect(health.mayTry(WEST)).toBeTrue();
    expect(health.mayTry({ ...EAST, model: 'small' })).toBeTrue();
    expect(health.listOut()).toEqual([EAST]);
    expect(told).toEqual(['east out 10000']);
  });

  test('an answer between failures begins the row anew', () => {
    for (let round = 0; round < 3; round += 1) {
      fail(4);
      health.answered(EAST);
    }
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('half of twenty within ten seconds leave it out, fewer do not', () => {
    for (let round = 0; round < 9; round += 1) {
      fail();
      health.answered(EAST);
    }
    fail();
    expect(health.mayTry(EAST)).toBeTrue();
    fail();
    expect(health.mayTry(EAST)).toBeFalse();
  });

  test('failures of long ago do not count', () => {
    for (let round = 0; round < 30; round += 1) {
      fail();
      health.answered(EAST);
      nowMs += 2000;
    }
    expect(told).toEqual([]);
  });

  test('when the pause is over one request finds out, and each failure doubles the pause up to five minutes', () => {
    fail(5);
    for (const pauseMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      nowMs += pauseMs - 1;
      expect([pauseMs, health.mayTry(EAST)]).toEqual([pauseMs, false]);
      nowMs += 1;
      expect([pauseMs, health.mayTry(EAST), health.mayTry(EAST)]).toEqual([pauseMs, true, false]);
      fail();
    }
    expect(told).toHaveLength(8);
    nowMs += 300_000;
    expect(health.mayTry(EAST)).toBeTrue();
    health.answered(EAST);
    expect([health.mayTry(EAST), health.mayTry(EAST)]).toEqual([true, true]);
    expect(told.at(-1)).toBe('east back');
    fail(5);
    expect(told.at(-1)).toBe('east out 10000');
  });

  test('a request that finds out nothing leaves it to the next', () => {
    fail(5);
    nowMs += 10_000;
    expect(health.mayTry(EAST)).toBeTrue();
    health.unknown(EAST);
    expect(health.mayTry(EAST)).toBeTrue();
    fail(1, 'provider_refused');
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('failures of requests that were under way do not make the pause longer', () => {
    fail(50);
    expect(told).toEqual(['east out 10000']);
    nowMs += 10_000;
    expect(health.mayTry(EAST)).toBeTrue();
  });

  test('a 429 rests the route for as long as it says, and is no failure', () => {
    fail(10, 'provider_rate_limited', 7);
    expect(health.mayTry(EAST)).toBeFalse();
    health.answered(EAST);
    expect(health.mayTry(EAST)).toBeFalse();
    nowMs += 7000;
    expect([health.mayTry(EAST), health.mayTry(EAST)]).toEqual([true, true]);
    fail(1, 'provider_rate_limited', 3600);
    nowMs += 300_000;
    expect(health.mayTry(EAST)).toBeTrue();
    expect(told).toEqual([]);
  });

  test('requests that are wrong never leave a route out', () => {
    fail(100, 'provider_refused');
    expect([health.mayTry(EAST), health.listOut()]).toEqual([true, []]);
  });
});
