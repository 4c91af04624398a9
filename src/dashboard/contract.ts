/**
 * Everything that the browser side may import from the server side: types, and the vocabulary of reports. Only the rules for passwords are
 * imported from `auth/passwords.ts`, because every page loads this file.
 */
export type { Api } from './api.ts';
export { VIEWABLE } from './viewable.ts';
export { BUCKET_MS, BUCKETS, bucketsMax, GROUPS, isMean, METRICS, REQUEST_ERRORS, REQUEST_STATUSES } from '../usage/vocabulary.ts';
export type { Bucket, Group, Metric, RequestStatus } from '../usage/vocabulary.ts';
