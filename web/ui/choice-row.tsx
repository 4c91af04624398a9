import { useLayoutEffect, useRef } from 'react';
import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

interface ChoiceRowProps {
  readonly label: string;
  /** Id of the pressed choice. */
  readonly chosen: string;
  readonly className: string;
  /** A button for each choice. */
  readonly children: ReactNode;
}

/** A row of choices. If it scrolls, the pressed choice is centred, and a choice focused by keyboard scrolls fully into view. */
export function ChoiceRow({ label, chosen, className, children }: ChoiceRowProps): JSX.Element {
  const row = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const pressed = row.current?.querySelector<HTMLElement>('[aria-pressed=true]');
    if (row.current && pressed) row.current.scrollLeft = pressed.offsetLeft - (row.current.clientWidth - pressed.offsetWidth) / 2;
  }, [chosen]);
  return (
    <div
      ref={row}
      role="group"
      aria-label={label}
      // Only on keyboard focus: a choice must not move away under the pointer.
      onFocus={({ target }) => target.matches(':focus-visible') && target.scrollIntoView({ block: 'nearest', inline: 'nearest' })}
      className={cx('relative overflow-x-auto', className)}
    >
      {children}
    </div>
  );
}
