import { bare } from './bare.ts';
import type { Candidate } from './candidate.ts';
import { go } from './go.ts';
import { nginx } from './nginx.ts';
import { portkey } from './portkey.ts';
import { tollgate } from './tollgate.ts';

/**
 * Every candidate, in running order. The two whose ratio is promised run directly one after the
 * other, because a machine with other work is slower at some times than at others.
 */
export const candidates: readonly Candidate[] = [portkey, nginx, go, bare, tollgate];
