import { useLayoutEffect, useRef } from 'react';
import type { JSX, ReactNode } from 'react';
import { cx } from './cx.ts';

interface ChoiceRowProps {
  readonly label: string;
  /** Which of them is pressed. */
  readonly chosen: string;
  readonly className: string;
  /** A button for each choice. */
  readonly children: ReactNode;
}

/** Choices beside each other. Where not all have room, the pressed one is in the middle, and the one that the keyboard comes to whole. */
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
      // Not what is pressed by a pointer, which it must not slip away from.
      onFocus={({ target }) => target.matches(':focus-visible') && target.scrollIntoView({ block: 'nearest', inline: 'nearest' })}
      className={cx('relative overflow-x-auto', className)}
    >
      {children}
    </div>
  );
}
