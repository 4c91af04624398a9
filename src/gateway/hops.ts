import { GatewayError } from '../errors.ts';
import { HOP_HEADER } from '../http/client.ts';
import type { UpstreamRequest } from '../providers/provider.ts';
import type { Call } from './gate.ts';

/** A chain of more gates than this is a loop. */
const HOPS_MAX = 4;
const LOOP =
  'The request goes round: the base_url of a provider leads back to a gateway that it came through. The operator must correct it.';

/** Reads through how many gates a request has come, and refuses one that goes round: each turn would hold money and a place. */
export function countHops({ headers }: Request, call: Call): void {
  const told = headers.get(HOP_HEADER);
  if (told === null) return;
  call.hops = /^\d{1,9}$/.test(told) ? Number(told) : 0;
  if (call.hops >= HOPS_MAX) throw new GatewayError('request_loop', LOOP);
}

/** The request to a provider, which may be a gate too. For requests that came through no gate the HTTP client adds the header by itself. */
export function addHop(request: UpstreamRequest, { hops }: Call): UpstreamRequest {
  return hops === 0 ? request : { ...request, headers: { ...request.headers, [HOP_HEADER]: String(hops + 1) } };
}
