import type { JSX } from 'react';
import { keys as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import type { Tone } from '../../ui/badge.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import type { Key } from './queries.ts';

const TONES: Readonly<Record<Key['status'], Tone>> = {
  active: 'good',
  disabled: 'neutral',
  expired: 'neutral',
  limit_reached: 'bad',
  rotating: 'accent',
};

/** Current status of a key and, during a rotation, when the overlap ends. */
export function KeyStatus({ status, rotatingUntilMs }: Pick<Key, 'status' | 'rotatingUntilMs'>): JSX.Element {
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-0.5">
      <Badge tone={TONES[status]}>{t.status[status]}</Badge>
      {status === 'rotating' && rotatingUntilMs !== null && (
        <span className="text-xs text-muted">
          {t.rotatingUntil} <DateTime atMs={rotatingUntilMs} mayBreak />
        </span>
      )}
    </span>
  );
}
