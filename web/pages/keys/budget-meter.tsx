import type { JSX } from 'react';
import { formatUsd, partOf, signOf } from '../../money.ts';
import { key as keyTexts, keys as t } from '../../strings/index.ts';
import { Meter } from '../../ui/meter.tsx';
import { RelativeTime } from '../../ui/date-time.tsx';
import type { Budget } from './queries.ts';

/** How much of a spending limit is used, and when it starts again. */
export function BudgetMeter({ budget, isShort = false }: { readonly budget: Budget; readonly isShort?: boolean }): JSX.Element {
  const { period, usd, spentUsd, heldUsd } = budget;
  return (
    <Meter
      label={t.period[period]}
      part={budget.isReached ? 1 : partOf(spentUsd, usd)}
      reservedPart={partOf(heldUsd, usd)}
      text={`${formatUsd(spentUsd)} of ${formatUsd(usd)}`}
      hint={<BudgetHint budget={budget} isShort={isShort} />}
    />
  );
}

function BudgetHint({ budget, isShort }: { readonly budget: Budget; readonly isShort: boolean }): JSX.Element {
  const { resetsAtMs, refusedAtMs, heldUsd } = budget;
  return (
    <>
      {resetsAtMs === null ? (
        t.noReset
      ) : (
        <>
          {t.resets} <RelativeTime atMs={resetsAtMs} />
        </>
      )}
      {refusedAtMs !== null && (
        <>
          {' · '}
          {t.refused} <RelativeTime atMs={refusedAtMs} />
        </>
      )}
      {!isShort && signOf(heldUsd) > 0 && ` · ${keyTexts.limits.held(formatUsd(heldUsd))}`}
    </>
  );
}
