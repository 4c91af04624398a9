import type { JSX } from 'react';

/** A description; text between backticks is shown as code. */
export function Prose({ text, className }: { readonly text: string; readonly className?: string }): JSX.Element {
  return (
    <p className={className}>
      {text.split('`').map((part, index) =>
        index % 2 === 0 ? (
          part
        ) : (
          <code key={`${index} ${part}`} className="rounded-sm bg-sunken px-1 py-px font-mono text-[0.8125rem] text-ink">
            {part}
          </code>
        ),
      )}
    </p>
  );
}
