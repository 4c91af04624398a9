import { bare } from './bare.ts';
import type { Candidate } from './candidate.ts';
import { go } from './go.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import { tollgate } from './tollgate.ts';

/**
 * Every candidate, in the order of their turns. The two whose ratio is promised follow each other
 * directly, because a machine with other work is slower at some times than at others.
 */
export const candidates: readonly Candidate[] = [portkey, nginx, go, bare, tollgate];
