import { Hono } from 'hono';
import { z } from 'zod';
import { differences, recordAction } from '../../../accounts/audit.ts';
import { DisabledProviders } from '../../../catalog/disabled-providers.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../durations.ts';
import type { ListedProvider } from '../../../gateway/provider-list.ts';
import type { Trial } from '../../../gateway/try-route.ts';
import { measureProviders, readLastFailures, type ProviderRecord } from '../../../usage/provider-health.ts';
import { ApiError } from '../../api-error.ts';
import { askProviders, askTrial } from '../../gate-answers.ts';
import type { Env, Dependencies } from '../../dependencies.ts';
import type { RateRule } from '../../rate-limits.ts';
import { recent } from '../../recent.ts';
import { validate } from '../../validate.ts';

const CACHE_MS = 60_000;
const MODEL_CHARS_MAX = 200;

/** Test calls cost money that nobody is charged for. The limit applies to all operators together. */
const TRIALS: RateRule = { kind: 'provider-trial', max: 10, windowMs: 10 * MINUTE_MS };

const trialBody = z.strictObject({ model: z.string().min(1).max(MODEL_CHARS_MAX) });

/** The providers, their health, and test calls. */
export function adminProviderRoutes({ ask, auth, database: { kysely } }: Dependencies) {
  const readHealth = recent(async () => {
    const toMs = Date.now();
    const day = { fromMs: toMs - DAY_MS, toMs };
    const [lastHour, lastDay, failures] = await Promise.all([
      measureProviders(kysely, { fromMs: toMs - HOUR_MS, toMs }),
      measureProviders(kysely, day),
      readLastFailures(kysely, day),
    ]);
    return { lastHour, lastDay, failures };
  }, CACHE_MS);
  const disabled = new DisabledProviders(kysely);
  return (
    new Hono<Env>()
      .get('/', async (c) => {
        const [{ configured, known }, { lastHour, lastDay, failures }, off] = await Promise.all([
          askProviders(ask),
          readHealth(),
          disabled.list(),
        ]);
        const offBy = new Map(off.map(({ provider, disabledBy, disabledAtMs }) => [provider, { disabledBy, disabledAtMs }]));
        return c.json({
          configured: configured.map((provider) => ({
            ...describeProvider(provider),
            hour: describeRecord(lastHour.get(provider.id)),
            day: describeRecord(lastDay.get(provider.id)),
            lastFailure: failures.get(provider.id) ?? null,
            disabled: offBy.get(provider.id) ?? null,
          })),
          known,
        });
      })
      // Idempotent: disabling a provider twice has the same result as once.
      .post('/:id/disable', async (c) => {
        const provider = c.req.param('id');
        if (!(await askProviders(ask)).configured.some(({ id }) => id === provider)) throw new ApiError('not_found', 'Provider not found.');
        await disabled.disable(provider, c.get('person').email);
        return c.json({ isDisabled: true });
      })
      .post('/:id/enable', async (c) => {
        await disabled.enable(c.req.param('id'), c.get('person').email);
        return c.json({ isDisabled: false });
      })
      .post('/:id/test', validate('json', trialBody), async (c) => {
        const { model } = c.req.valid('json');
        const provider = c.req.param('id');
        const { configured } = await askProviders(ask);
        if (!configured.some(({ id, models }) => id === provider && models.some((each) => each.id === model)))
          throw new ApiError('not_found', 'Provider not found, or this model has no route to it.');
        await auth.limits.admit([[TRIALS, 'all']]);
        const trial = await askTrial(ask, provider, model);
        const outcome = trial?.hasAnswered === true ? 'answered' : 'failed';
        const changes = differences({}, { model, outcome });
        await recordAction(kysely, { actor: c.get('person').email, action: 'provider.test', subject: provider, changes });
        return c.json(describeTrial(trial));
      })
  );
}

function describeProvider({ host, credential, region, apiVersion, ...provider }: ListedProvider) {
  return { ...provider, host: host ?? null, credential: credential ?? null, region: region ?? null, apiVersion: apiVersion ?? null };
}

/** Describes a measurement; null if nothing was measured, which differs from zero. */
function describeRecord(record: ProviderRecord | undefined) {
  if (record === undefined) return null;
  const { calls, failures, firstToken, duration } = record;
  return { calls, failures, firstToken: firstToken ?? null, duration: duration ?? null };
}

function describeTrial(trial: Trial | undefined) {
  // The provider may have been removed between the check of the list and the call.
  if (trial === undefined) throw new ApiError('not_found', 'This model no longer has a route to this provider.');
  const { hasAnswered, durationMs, inputTokens, outputTokens, message, answer } = trial;
  return {
    isFine: hasAnswered,
    durationMs,
    inputTokens: inputTokens ?? null,
    outputTokens: outputTokens ?? null,
    message,
    answer: answer ?? null,
  };
}
