import { Hono } from 'hono';
import type { Measure } from '../../usage/health.ts';
import { askCatalogue } from '../gate-answers.ts';
import { describeModel } from './describe-model.ts';
import type { Env, Dependencies } from '../dependencies.ts';
import type { HealthReader } from '../health.ts';

/** The public price list: prices, capabilities and recent health of each model. */
export function modelRoutes({ ask }: Dependencies, readHealth: HealthReader) {
  return new Hono<Env>().get('/', async (c) => {
    const [models, health] = await Promise.all([askCatalogue(ask), readHealth()]);
    return c.json({
      measuredFromMs: health.fromMs,
      measuredToMs: health.toMs,
      models: models.map((model) => ({ ...describeModel(model), measured: describeMeasure(health.models.get(model.id)) })),
    });
  });
}

/** Describes a measurement; null if nothing was measured, which differs from zero. */
export function describeMeasure(measure: Measure | undefined) {
  if (measure === undefined || measure.requests === 0) return null;
  const { requests, succeeded, firstTokenP50Ms, firstTokenP95Ms } = measure;
  return {
    requests,
    successPart: succeeded / requests,
    firstTokenP50Ms: firstTokenP50Ms ?? null,
    firstTokenP95Ms: firstTokenP95Ms ?? null,
  };
}
