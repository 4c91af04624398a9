import { bare } from './bare.ts';
import type { Candidate } from './candidate.ts';
import { gate } from './gate.ts';
import { go } from './go.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import { tollgate } from './tollgate.ts';

/**
 * Every candidate, in the order of their turns. Those whose ratio is promised are the baseline's neighbours, because a machine with other
 * work is slower at some times than at others.
 */
export const candidates: readonly Candidate[] = [portkey, nginx, go, gate, bare, tollgate];
