import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

interface MeterProps {
  readonly label: string;
  /** Used fraction, from 0 to 1; more than 1 is drawn as full. */
  readonly part: number;
  /** Fraction on hold in addition, drawn paler. */
  readonly reservedPart?: number;
  /** The bar in words, such as `$3.20 of $10.00`. */
  readonly text: ReactNode;
  /** Text under the bar, such as when it resets. */
  readonly hint?: ReactNode;
  readonly isLabelHidden?: boolean;
}

const WARN_PART = 0.8;

/** Bar for the used fraction of a limit: amber from 80 %, red when nothing is left. */
export function Meter({ label, part, reservedPart = 0, text, hint, isLabelHidden = false }: MeterProps): JSX.Element {
  const used = clamp(part);
  const tone = used >= 1 ? 'bg-bad' : used + reservedPart >= WARN_PART ? 'bg-warn' : 'bg-accent';
  return (
    <div className="min-w-0">
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-3 text-xs">
        <span className={isLabelHidden ? 'sr-only' : 'text-muted'}>{label}</span>
        <span className="figures">{text}</span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(used * 100)}
        className="flex h-1.5 forced-color-adjust-none overflow-hidden rounded-full bg-sunken ring-1 ring-line"
      >
        <div className={cx('h-full', tone)} style={{ width: `${used * 100}%` }} />
        <div className={cx('h-full opacity-40', tone)} style={{ width: `${clamp(Math.min(reservedPart, 1 - used)) * 100}%` }} />
      </div>
      {hint !== undefined && <p className="mt-1 text-xs text-muted">{hint}</p>}
    </div>
  );
}

function clamp(part: number): number {
  return Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : 0;
}
