import { useRef } from 'react';
import type { JSX } from 'react';
import { kit as t } from '../strings/index.ts';
import { ChoiceRow } from './choice-row.tsx';
import { CopyButton } from './copy-button.tsx';
import { cx } from './cx.ts';

/** A labelled piece of code, such as an example in one language. */
export interface Snippet {
  readonly id: string;
  readonly label: string;
  readonly code: string;
  /** What to know before running it. */
  readonly note?: string;
}

interface CodeBlockProps {
  readonly snippets: readonly Snippet[];
  /** Id of the snippet shown; keep it in the URL if there are several. */
  readonly chosenId?: string | undefined;
  readonly onChoose?: (id: string) => void;
  readonly className?: string;
}

/** Code to copy, with a tab for each variant. */
export function CodeBlock({ snippets, chosenId, onChoose, className }: CodeBlockProps): JSX.Element | null {
  const source = useRef<HTMLElement>(null);
  const chosen = snippets.find((snippet) => snippet.id === chosenId) ?? snippets[0];
  if (chosen === undefined) return null;
  return (
    <div className={cx('min-w-0 overflow-hidden rounded-lg border border-line bg-sunken', className)}>
      <div className="flex items-center justify-between gap-2 border-b border-line px-2 py-1.5">
        <ChoiceRow label={t.examples} chosen={chosen.id} className="more-beside flex min-w-0 gap-0.5">
          {snippets.map((snippet) => (
            <button
              key={snippet.id}
              type="button"
              aria-pressed={snippet.id === chosen.id}
              onClick={() => onChoose?.(snippet.id)}
              className="rounded-sm px-2 py-1 text-xs whitespace-nowrap text-muted hover:text-ink focus-visible:-outline-offset-2 aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink"
            >
              {snippet.label}
            </button>
          ))}
        </ChoiceRow>
        <CopyButton text={chosen.code} what={t.example(chosen.label)} source={source} isLabelled />
      </div>
      {chosen.note !== undefined && <p className="border-b border-line px-4 py-2 text-xs text-muted">{chosen.note}</p>}
      <pre
        tabIndex={0}
        dir="auto"
        aria-label={chosen.label}
        className="overflow-x-auto px-4 py-3 font-mono text-[0.8125rem] leading-5 focus-visible:-outline-offset-2"
      >
        <code ref={source}>{chosen.code}</code>
      </pre>
    </div>
  );
}
