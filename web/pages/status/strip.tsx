import type { JSX } from 'react';
import { status as t } from '../../strings/index.ts';
import { formatDateTime } from '../../time.ts';
import { cx } from '../../ui/cx.ts';
import { useZone } from '../../zone.ts';
import { stateOf } from './state.ts';

interface Slot {
  readonly startMs: number;
  readonly succeeded: number;
  readonly failed: number;
}

interface StripProps {
  readonly provider: { readonly id: string; readonly slots: readonly Slot[] };
  readonly span: { readonly fromMs: number; readonly toMs: number; readonly slotMs: number };
}

const FILLS = { good: 'bg-good', warn: 'bg-warn', bad: 'bg-bad', none: 'bg-line' } as const;

/** A day of a provider in half-hour bars. Each bar has a description. */
export function Strip({ provider, span }: StripProps): JSX.Element {
  const zone = useZone();
  const slots = allSlots(provider.slots, span);
  return (
    <div>
      <ol aria-label={t.strip(provider.id)} className="flex h-8 gap-[2px] forced-color-adjust-none">
        {slots.map((slot) => {
          const text = `${formatDateTime(slot.startMs, zone)} ${zone}: ${describe(slot)}`;
          return (
            <li key={slot.startMs} title={text} className={cx('min-w-0 flex-1 rounded-[1px]', FILLS[stateOf(successOf(slot))])}>
              <span className="sr-only">{text}</span>
            </li>
          );
        })}
      </ol>
      <p aria-hidden="true" className="mt-1 flex justify-between text-xs text-muted">
        <span>{t.ago}</span>
        <span>{t.now}</span>
      </p>
    </div>
  );
}

/** Fills in the half hours without requests. */
function allSlots(slots: readonly Slot[], { fromMs, toMs, slotMs }: StripProps['span']): readonly Slot[] {
  const known = new Map(slots.map((slot) => [slot.startMs, slot]));
  const firstMs = Math.ceil(fromMs / slotMs) * slotMs;
  const count = Math.ceil((toMs - firstMs) / slotMs);
  return Array.from({ length: count }, (_, index) => {
    const startMs = firstMs + index * slotMs;
    return known.get(startMs) ?? { startMs, succeeded: 0, failed: 0 };
  });
}

function successOf({ succeeded, failed }: Slot): { readonly successPart: number } | null {
  return succeeded + failed === 0 ? null : { successPart: succeeded / (succeeded + failed) };
}

function describe({ succeeded, failed }: Slot): string {
  return succeeded + failed === 0 ? t.slot.none : t.slot.some(succeeded, failed);
}
