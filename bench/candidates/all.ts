import { bare } from './bare.ts';
import type { Candidate } from './candidate.ts';
import { go } from './go.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import { tollgate } from './tollgate.ts';

/**
 * Every candidate, in the order in which they run. The two whose ratio is promised run one right
 * after the other: a machine with other work is slower at one time than at another.
 */
export const candidates: readonly Candidate[] = [portkey, nginx, go, bare, tollgate];
