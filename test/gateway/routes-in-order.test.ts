import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { modelSchema, type Route } from '../../src/catalog/catalog.ts';
import { routesInOrder } from '../../src/gateway/routes-in-order.ts';
import { startGate } from '../simulator/gate.ts';
import { startOpenAiSimulator } from '../simulator/openai.ts';

const PLAIN: Route[] = [
  { provider: 'a', model: 'x' },
  { provider: 'b', model: 'x' },
];
const EAST: Route = { provider: 'east', model: 'x', weight: 3 };
const WEST: Route = { provider: 'west', model: 'x', weight: 1 };
const LAST: Route = { provider: 'last', model: 'x' };

/** Returns pseudo-random numbers from 0 to 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function names(routes: readonly Route[]): string {
  return routes.map(({ provider }) => provider).join(' ');
}

function countOrders(routes: readonly Route[], draws: number): Record<string, number> {
  const random = seeded(7);
  const counts: Record<string, number> = {};
  for (let index = 0; index < draws; index += 1) {
    const order = names(routesInOrder(routes, random));
    counts[order] = (counts[order] ?? 0) + 1;
  }
  return counts;
}

describe('the order of routes', () => {
  test('without weights is that of the catalogue, and costs nothing', () => {
    expect(routesInOrder(PLAIN, () => 0.99)).toBe(PLAIN);
  });

  test('shares requests by weight within a group, whose other routes come before the next route', () => {
    const counts = countOrders([EAST, WEST, LAST], 10_000);
    expect(Object.keys(counts).toSorted()).toEqual(['east west last', 'west east last']);
    expect(counts['east west last']).toBeWithin(7400, 7600);
  });

  test('spreads fallback traffic by weight', () => {
    const counts = countOrders(
      [
        { ...EAST, weight: 6 },
        { ...WEST, weight: 3 },
        { ...LAST, weight: 1 },
      ],
      10_000,
    );
    const eastFirst = (counts['east west last'] ?? 0) + (counts['east last west'] ?? 0);
    expect(eastFirst).toBeWithin(5850, 6150);
    expect((counts['east west last'] ?? 0) / eastFirst).toBeGreaterThan(0.72);
    expect((counts['east west last'] ?? 0) / eastFirst).toBeLessThan(0.78);
  });

  test('keeps a route without a weight between two groups', () => {
    const counts = countOrders([EAST, WEST, LAST, { ...EAST, provider: 'third' }, { ...WEST, provider: 'fourth' }], 1000);
    for (const order of Object.keys(counts)) expect(order).toMatch(/^(east west|west east) last (third fourth|fourth third)$/u);
  });

  test('contains every route once, whatever the weights and the draw', () => {
    const route = fc.record({
      provider: fc.uuid(),
      model: fc.constant('x'),
      weight: fc.option(fc.double({ min: 1e-9, max: 1e6, noNaN: true }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(route, { maxLength: 8 }), fc.double({ min: 0, max: 1, noNaN: true }), (routes, drawn) => {
        expect(
          routesInOrder(routes, () => drawn)
            .map(({ provider }) => provider)
            .toSorted(),
        ).toEqual(routes.map(({ provider }) => provider).toSorted());
      }),
    );
  });

  test.each([0, -1, Number.POSITIVE_INFINITY, '2'])('does not accept a weight of %p', (weight) => {
    const entry = { id: 'a/b', provider: 'a', context_length: 10, max_output_tokens: 5, price: { input: 1, output: 1 } };
    expect(modelSchema.safeParse({ ...entry, routes: [{ provider: 'a', model: 'b', weight }] }).success).toBe(false);
  });
});

test('a running gate shares requests among weighted routes, and falls back to the other when one fails', async () => {
  const [east, west] = await Promise.all([startOpenAiSimulator(), startOpenAiSimulator()]);
  const provider = ({ baseUrl, apiKey }: typeof east) => ({ base_url: baseUrl, api_key: apiKey });
  const routes = ['east', 'west'].map((id) => ({ provider: id, model: 'gpt-x', weight: 1 }));
  const shared = {
    id: 'team/shared',
    provider: 'team',
    context_length: 1000,
    max_output_tokens: 100,
    price: { input: 0, output: 0 },
    routes,
  };
  const gate = await startGate({ simulator: east, providers: { east: provider(east), west: provider(west) }, models: [shared] });
  const { secret } = await gate.makeKey();
  const ask = async (): Promise<number> => {
    const response = await fetch(`${gate.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'team/shared', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    await response.text();
    return response.status;
  };
  for (let count = 0; count < 40; count += 1) expect(await ask()).toBe(200);
  // Of 40 fair draws, fewer than four on one side happen once in ten million runs.
  expect(east.requests.length).toBeWithin(4, 37);
  expect(east.requests.length + west.requests.length).toBe(40);
  await east.stop();
  for (let count = 0; count < 10; count += 1) expect(await ask()).toBe(200);
  await gate.stop();
  await west.stop();
});
