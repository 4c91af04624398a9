import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import type { Tone } from './badge.tsx';
import { cx } from './cx.ts';

interface BannerProps {
  readonly tone: Exclude<Tone, 'neutral'>;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Notice that the user should see before the rest of the page. */
export function Banner({ tone, title, children, action }: BannerProps): JSX.Element {
  const Icon = ICONS[tone];
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={cx('flex gap-x-4 rounded-lg border-l-4 px-4 py-2.5 text-sm sm:items-center', TONES[tone])}
    >
      <Icon aria-hidden="true" className="size-5 shrink-0" />
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-2">
        <div className={cx('min-w-0 flex-1 basis-52', action !== undefined && 'flex flex-wrap gap-x-2')}>
          <p className="min-w-0 font-medium">{title}</p>
          {children !== undefined && <div className="min-w-0 text-ink">{children}</div>}
        </div>
        {action}
      </div>
    </div>
  );
}

const ICONS = { accent: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert } as const;
const TONES = {
  accent: 'border-accent bg-accent-soft text-accent',
  good: 'border-good bg-good-soft text-good',
  warn: 'border-warn bg-warn-soft text-warn',
  bad: 'border-bad bg-bad-soft text-bad',
} as const;
