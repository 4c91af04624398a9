import type { JSX, ReactNode } from 'react';

interface PartProps {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

/** A part of a drawer, under a heading. */
export function Part({ title, hint, children }: PartProps): JSX.Element {
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold wrap-anywhere">{title}</h3>
      {children}
      {hint !== undefined && <p className="mt-2 text-xs text-muted">{hint}</p>}
    </section>
  );
}
