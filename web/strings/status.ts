import { plural } from './plural.ts';

/** Texts of the page Status. */
export const status = {
  title: 'Status',
  text: 'Health of this gateway and its providers, from the requests of the last 24 hours.',
  states: {
    good: 'Operational',
    warn: 'Degraded',
    bad: 'Failing',
    none: 'No traffic',
  },
  ready: { yes: 'Accepting requests', no: 'Not accepting requests', unknown: 'Checking…' },
  readyHint: 'Checked every 15 seconds.',
  success: 'Success',
  successHint: 'excluding client errors and disconnects',
  p50: 'First token, p50',
  p95: 'First token, p95',
  requests: 'Requests',
  measured: (part: string, requests: string) => `${part} of ${plural(requests, 'request')}`,
  firstToken: (time: string) => `First token, p50: ${time}`,
  providers: 'Providers',
  providersHint: 'Each bar is half an hour. A failed attempt counts against its provider even if another one answered.',
  models: (count: number) => (count === 1 ? '1 model' : `${count} models`),
  slot: { none: 'no requests', some: (succeeded: number, failed: number) => `${succeeded} succeeded, ${failed} failed` },
  ago: '24 hours ago',
  now: 'now',
  strip: (provider: string) => `${provider}: last 24 hours`,
  empty: { title: 'No providers configured', text: 'Set a provider’s key and restart the server.' },
} as const;
