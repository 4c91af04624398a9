import { useState } from 'react';
import type { JSX, KeyboardEvent } from 'react';
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

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

/** A day of a provider in half-hour bars. Pointing at a bar, pressing it or the arrow keys show its description below. */
export function Strip({ provider, span }: StripProps): JSX.Element {
  const zone = useZone();
  const slots = allSlots(provider.slots, span);
  const [active, setActive] = useState<number>();
  const shown = active === undefined ? undefined : slots[active];
  const textOf = (slot: Slot): string => `${formatDateTime(slot.startMs, zone)} ${zone}: ${describe(slot)}`;
  const step = (event: KeyboardEvent): void => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setActive(active === undefined ? slots.length - 1 : Math.min(Math.max(active + by, 0), slots.length - 1));
  };
  return (
    <div>
      <ol
        aria-label={t.strip(provider.id)}
        tabIndex={0}
        onKeyDown={step}
        onBlur={() => setActive(undefined)}
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && setActive(undefined)}
        className="flex h-8 rounded-[1px] forced-color-adjust-none"
      >
        {slots.map((slot, index) => (
          // The gaps belong to the bars, so that the description does not flicker between them.
          <li
            key={slot.startMs}
            onPointerEnter={() => setActive(index)}
            onPointerDown={() => setActive(index)}
            className="min-w-0 flex-1 px-px"
          >
            <span
              className={cx('block h-full rounded-[1px]', FILLS[stateOf(successOf(slot))], index === active && 'outline-2 outline-ink')}
            />
            <span className="sr-only">{textOf(slot)}</span>
          </li>
        ))}
      </ol>
      <p aria-hidden="true" className="mt-1 flex justify-between text-xs text-muted">
        {shown === undefined ? (
          <>
            <span>{t.ago}</span>
            <span>{t.now}</span>
          </>
        ) : (
          <span className="text-ink">{textOf(shown)}</span>
        )}
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
