import { Check } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { Skeleton } from './skeleton.tsx';

interface StepItemProps {
  readonly title: ReactNode;
  /** Undefined while unknown. */
  readonly isDone: boolean | undefined;
  readonly children?: ReactNode;
}

/** One step of a checklist that ticks itself. */
export function StepItem({ title, isDone, children }: StepItemProps): JSX.Element {
  return (
    <li className="flex gap-3 px-4 py-3.5 sm:px-5">
      <span
        className={cx(
          'mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full border',
          isDone === true ? 'border-good bg-good text-surface' : 'border-line-strong',
        )}
      >
        {isDone === true && <Check aria-hidden="true" className="size-3.5" strokeWidth={3} />}
        <span className="sr-only">{isDone === true ? t.done : t.toDo}</span>
      </span>
      <div className="min-w-0 flex-1">
        <p className={cx('text-sm font-medium', isDone === true && 'text-muted')}>{title}</p>
        {isDone === undefined && <Skeleton className="mt-1 w-40" />}
        {children}
      </div>
    </li>
  );
}
