import type { JSX } from 'react';
import { adminCodes as t } from '../../../strings/index.ts';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import type { Code } from './queries.ts';

const TONES: Readonly<Record<Code['state'], Tone>> = {
  valid: 'good',
  not_yet: 'accent',
  over: 'neutral',
  used_up: 'neutral',
  stopped: 'bad',
};

/** Whether a code can be redeemed, or why not. */
export function StateBadge({ state }: Pick<Code, 'state'>): JSX.Element {
  return <Badge tone={TONES[state]}>{t.states[state]}</Badge>;
}

/** Period in which a code can be redeemed. */
export function Validity({ code: { validFromMs, validToMs } }: { readonly code: Code }): JSX.Element {
  if (validFromMs === null && validToMs === null) return <span className="text-muted">{t.always}</span>;
  return (
    <span>
      {validFromMs !== null && (
        <>
          {t.from} <DateTime atMs={validFromMs} />{' '}
        </>
      )}
      {validToMs !== null && (
        <>
          {t.to} <DateTime atMs={validToMs} />
        </>
      )}
    </span>
  );
}
