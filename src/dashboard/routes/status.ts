import { Hono } from 'hono';
import { SLOT_MS } from '../../usage/health.ts';
import { readCatalogue } from '../catalogue.ts';
import type { HealthReader } from '../health.ts';
import type { Env, Parts } from '../parts.ts';
import { showMeasure } from './models.ts';

/** How the gate and the providers behind it did in the last day, for everybody, from real traffic. */
export function statusRoutes({ ask }: Parts, readHealth: HealthReader) {
  return new Hono<Env>().get('/', async (c) => {
    const [models, health] = await Promise.all([readCatalogue(ask), readHealth()]);
    const providers = new Set(models.flatMap((model) => model.routes.map((route) => route.provider)));
    return c.json({
      fromMs: health.fromMs,
      toMs: health.toMs,
      slotMs: SLOT_MS,
      gate: showMeasure(health.all),
      providers: [...providers].sort().map((id) => {
        const measure = health.providers.get(id);
        return {
          id,
          models: models.filter((model) => model.routes.some((route) => route.provider === id)).length,
          measured: showMeasure(measure),
          slots: measure?.slots ?? [],
        };
      }),
    });
  });
}
