import { GatewayError } from '../errors.ts';
import { HOP_HEADER } from '../http/client.ts';
import type { Incoming } from '../http/incoming.ts';
import type { UpstreamRequest } from '../providers/dialect.ts';
import type { Call } from './call.ts';

/** A chain of more gates than this is taken for a loop. */
const HOPS_MAX = 4;
const LOOP =
  'The request runs in a loop: the base_url of a provider leads back to a gateway it has already passed. The operator must correct it.';

/** Reads how many gates a request has passed, and refuses a loop: each round would hold money and a connection. */
export function countHops({ headers }: Incoming, call: Call): void {
  const value = headers.get(HOP_HEADER);
  if (value === null) return;
  call.hops = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (call.hops >= HOPS_MAX) throw new GatewayError('request_loop', LOOP);
}

/** Adds the hop count to a request, because a provider may be a gate too. For a count of zero the HTTP client adds the header by itself. */
export function addHop(request: UpstreamRequest, { hops }: Call): UpstreamRequest {
  return hops === 0 ? request : { ...request, headers: { ...request.headers, [HOP_HEADER]: String(hops + 1) } };
}
