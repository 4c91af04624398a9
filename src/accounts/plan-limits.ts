import type { KeySettings } from './key-settings.ts';
import { inBoth } from './model-rules.ts';

/** What a plan allows; absent where it does not say. */
export type PlanLimits = Pick<KeySettings, 'models' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent'>;

/**
 * What a key may really do: its own settings, within what the plan of its account allows. A key that asks for more than the
 * plan has gets what the plan has, and may call only the models that both know.
 */
export function withinPlan<Settings extends PlanLimits>(key: Settings, plan: PlanLimits): Settings {
  return {
    ...key,
    models: common(key.models, plan.models),
    requestsPerMinute: smaller(key.requestsPerMinute, plan.requestsPerMinute),
    tokensPerMinute: smaller(key.tokensPerMinute, plan.tokensPerMinute),
    concurrent: smaller(key.concurrent, plan.concurrent),
  };
}

function smaller(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Math.min(first, second);
}

function common(first: readonly string[] | undefined, second: readonly string[] | undefined): readonly string[] | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return inBoth(first, second);
}
