import { Hono } from 'hono';
import { SLOT_MS } from '../../usage/health.ts';
import { askCatalogue } from '../gate-answers.ts';
import type { HealthReader } from '../health.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import { describeMeasure } from './models.ts';

/** The public status of the gate and its providers over the last day, measured from real traffic. */
export function statusRoutes({ ask }: Dependencies, readHealth: HealthReader) {
  return new Hono<Env>().get('/', async (c) => {
    const [models, health] = await Promise.all([askCatalogue(ask), readHealth()]);
    const providers = new Set(models.flatMap((model) => model.routes.map((route) => route.provider)));
    return c.json({
      fromMs: health.fromMs,
      toMs: health.toMs,
      slotMs: SLOT_MS,
      gate: describeMeasure(health.all),
      providers: [...providers].sort().map((id) => {
        const measure = health.providers.get(id);
        return {
          id,
          models: models.filter((model) => model.routes.some((route) => route.provider === id)).length,
          measured: describeMeasure(measure),
          slots: measure?.slots ?? [],
        };
      }),
    });
  });
}
