import type { JSX } from 'react';
import { adminAccounts as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import type { Tone } from '../../../ui/badge.tsx';
import type { AccountRow } from './queries.ts';

const TONES: Readonly<Record<AccountRow['status'], Tone>> = { active: 'good', suspended: 'bad', closed: 'neutral' };

/** Current status of an account, and whether it is an operator. */
export function AccountStatus({ status, isOperator }: Pick<AccountRow, 'status' | 'isOperator'>): JSX.Element {
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone={TONES[status]}>{t.statuses[status]}</Badge>
      {isOperator && (
        <Badge tone="accent" isPlain>
          {t.operator}
        </Badge>
      )}
    </span>
  );
}
