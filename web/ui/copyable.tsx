import { useRef } from 'react';
import type { JSX } from 'react';
import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';

interface CopyableProps {
  /** The text to copy, also shown unless `shown` is given. */
  readonly text: string;
  readonly what: string;
  readonly shown?: string;
  readonly className?: string;
  /** Wraps instead of truncating, because every character must be readable. */
  readonly isWhole?: boolean;
}

/** An id, a model name or a key in monospace, with a copy button. */
export function Copyable({ text, what, shown, className, isWhole = false }: CopyableProps): JSX.Element {
  const source = useRef<HTMLElement>(null);
  return (
    <span className={cx('inline-flex max-w-full items-center gap-1', className)}>
      <code
        ref={source}
        // On paper there is no copy button, so the text is printed in full.
        className={cx('min-w-0 font-mono text-[0.8125rem]', isWhole ? 'break-all' : 'truncate print:break-all print:whitespace-normal')}
      >
        {shown ?? text}
      </code>
      <CopyButton text={text} what={what} source={source} />
    </span>
  );
}
