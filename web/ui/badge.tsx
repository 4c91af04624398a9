import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

interface BadgeProps {
  readonly tone?: Tone;
  /** Without the dot, for a word that is not a state. */
  readonly isPlain?: boolean;
  readonly children: ReactNode;
}

/** A word for a state. The word carries the meaning; the colour only supports it. */
export function Badge({ tone = 'neutral', isPlain = false, children }: BadgeProps): JSX.Element {
  return (
    <span className={cx('inline-flex items-center gap-1.5 rounded-sm px-1.5 py-px text-xs font-medium whitespace-nowrap', TONES[tone])}>
      {!isPlain && <span aria-hidden="true" className="size-1.5 rounded-full bg-current forced-color-adjust-none" />}
      {children}
    </span>
  );
}

const TONES: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
};
