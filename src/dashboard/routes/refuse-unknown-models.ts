import { findUnknown } from '../../accounts/model-rules.ts';
import { ApiError } from '../api-error.ts';
import { askCatalogue } from '../gate-answers.ts';
import type { Dependencies } from '../dependencies.ts';

/** Refuses unknown models. A misspelt model would silently create a key or a plan that cannot call anything. */
export async function refuseUnknownModels(ask: Dependencies['ask'], rules: readonly string[]): Promise<void> {
  if (rules.length === 0) return;
  const known = (await askCatalogue(ask)).map(({ id }) => id);
  const [unknown] = findUnknown(rules, known);
  if (unknown !== undefined) throw new ApiError('invalid', `Unknown model: ${unknown}.`, 'models');
}
