import { useRef } from 'react';
import type { JSX } from 'react';
import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';

interface CopyableProps {
  /** What is copied, and shown unless `shown` says otherwise. */
  readonly text: string;
  readonly what: string;
  readonly shown?: string;
  readonly className?: string;
  /** To the last character, in as many lines as that takes: somebody may have to read it. */
  readonly isWhole?: boolean;
}

/** An id, a model's name or a key in mono, with a button to copy it. */
export function Copyable({ text, what, shown, className, isWhole = false }: CopyableProps): JSX.Element {
  const source = useRef<HTMLElement>(null);
  return (
    <span className={cx('inline-flex max-w-full items-center gap-1', className)}>
      <code
        ref={source}
        // Nobody can press a button on paper.
        className={cx('min-w-0 font-mono text-[0.8125rem]', isWhole ? 'break-all' : 'truncate print:break-all print:whitespace-normal')}
      >
        {shown ?? text}
      </code>
      <CopyButton text={text} what={what} source={source} />
    </span>
  );
}
