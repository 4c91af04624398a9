import { compact, readChoice } from '../../search-params.ts';
import type { RawSearch } from '../../search-params.ts';
import { readZone } from '../../zone.ts';

export const BYS = ['model', 'key', 'provider'] as const;
export type By = (typeof BYS)[number];

/** What the spend is told apart by, and where its days begin. */
export interface OverviewSearch {
  readonly by?: By;
  readonly zone?: string;
}

export function readOverviewSearch(raw: RawSearch): OverviewSearch {
  return compact({ by: readChoice(raw, 'by', BYS), zone: readZone(raw) });
}
