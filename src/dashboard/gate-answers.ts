import { z } from 'zod';
import { formatPricePerToken } from '../ledger/money.ts';
import type { KeyUse, OwnLimits } from '../limits/limits.ts';
import { readCatalogue } from './catalogue.ts';
import type { Parts } from './parts.ts';

/** A model as the forms need it. */
export interface OfferedModel {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** USD per token. */
  readonly inputPrice: string;
  readonly outputPrice: string;
}

const count = z.number();
const keyUse = z.object({
  limits: z.object({ requestsPerMinute: count, tokensPerMinute: count, concurrent: count }),
  remainingRequests: count,
  remainingTokens: count,
  resetRequestsMs: count,
  resetTokensMs: count,
  open: count,
});

/** The models that can be called at this moment. */
export async function askModels(ask: Parts['ask']): Promise<OfferedModel[]> {
  return (await readCatalogue(ask)).map(({ id, name, provider, price }) => ({
    id,
    name,
    provider,
    inputPrice: formatPricePerToken(price.input),
    outputPrice: formatPricePerToken(price.output),
  }));
}

/** Where a key stands against its limits, as far as this process knows. */
export async function askLimits(ask: Parts['ask'], keyId: string, own: OwnLimits): Promise<KeyUse> {
  return keyUse.parse(await ask({ type: 'limits', keyId, own }));
}
