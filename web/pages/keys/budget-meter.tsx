import type { JSX } from 'react';
import { formatUsd, ratioOf, signOf } from '../../money.ts';
import { key as keyTexts, keys as t } from '../../strings/index.ts';
import { Meter } from '../../ui/meter.tsx';
import { RelativeTime } from '../../ui/date-time.tsx';
import type { Budget } from './queries.ts';

/** Used part of a budget, and when it resets. */
export function BudgetMeter({ budget, isShort = false }: { readonly budget: Budget; readonly isShort?: boolean }): JSX.Element {
  const { period, usd, spentUsd, heldUsd } = budget;
  return (
    <Meter
      label={t.period[period]}
      part={budget.isReached ? 1 : ratioOf(spentUsd, usd)}
      reservedPart={ratioOf(heldUsd, usd)}
      text={`${formatUsd(spentUsd)} of ${formatUsd(usd)}`}
      hint={<BudgetHint budget={budget} isShort={isShort} />}
    />
  );
}

function BudgetHint({ budget, isShort }: { readonly budget: Budget; readonly isShort: boolean }): JSX.Element {
  const { resetsAtMs, refusedAtMs, heldUsd, zone } = budget;
  return (
    <>
      {resetsAtMs === null ? (
        t.noReset
      ) : (
        <>
          {t.resets} <RelativeTime atMs={resetsAtMs} />
          {!isShort && `, ${zone}`}
        </>
      )}
      {refusedAtMs !== null && (
        <>
          {' · '}
          {t.refused} <RelativeTime atMs={refusedAtMs} />
        </>
      )}
      <Pace budget={budget} isShort={isShort} />
      {!isShort && signOf(heldUsd) > 0 && ` · ${keyTexts.limits.held(formatUsd(heldUsd))}`}
    </>
  );
}

/** For a budget that slows down: how much can be spent now, and when more becomes available. */
function Pace({ budget: { pace, freeUsd }, isShort }: { readonly budget: Budget; readonly isShort: boolean }): JSX.Element | null {
  if (pace === null) return null;
  return (
    <>
      {` · ${t.pace.free(formatUsd(freeUsd))}`}
      {!isShort && `, ${t.pace.more(formatUsd(pace.perHourUsd))}`}
      {pace.freeAtMs !== null && (
        <>
          {`, ${t.pace.from} `}
          <RelativeTime atMs={pace.freeAtMs} />
        </>
      )}
    </>
  );
}
