import { useId } from 'react';
import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

interface CardProps {
  /** Makes the card a target of the focus, after a change that removes the button pressed. */
  readonly id?: string;
  readonly title?: string;
  readonly hint?: ReactNode;
  /** Shown to the right of the title. */
  readonly actions?: ReactNode;
  /** Without padding, for tables and charts. */
  readonly isFlush?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A section of a page in a box, with a heading. */
export function Card({ id: ownId, title, hint, actions, isFlush = false, className, children }: CardProps): JSX.Element {
  const id = useId();
  return (
    <section
      {...(ownId !== undefined && { id: ownId, tabIndex: -1 })}
      aria-labelledby={title === undefined ? undefined : id}
      className={cx('min-w-0 overflow-clip rounded-lg border border-line bg-raised shadow-raised', className)}
    >
      {title !== undefined && (
        <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line px-4 py-3 sm:px-5">
          <div className="min-w-0">
            <h2 id={id} className="text-sm font-semibold wrap-anywhere">
              {title}
            </h2>
            {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={isFlush ? '' : 'px-4 py-4 sm:px-5'}>{children}</div>
    </section>
  );
}
