import type { KeySettings } from './key-settings.ts';
import { intersectRules } from './model-rules.ts';

/** The limits of a plan. An absent field means no limit. */
export type PlanLimits = Pick<KeySettings, 'models' | 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent'>;

/**
 * Returns a key's effective settings: its own, restricted by its account's plan. The smaller limit counts, and only models that
 * both allow may be called.
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

/** Returns the smaller of two numbers, either of which may be absent. */
export function smaller(first: number | undefined, second: number | undefined): number | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return Math.min(first, second);
}

function common(first: readonly string[] | undefined, second: readonly string[] | undefined): readonly string[] | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return intersectRules(first, second);
}
