import type { JSX, ReactNode } from 'react';

interface DrawerSectionProps {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

/** A section of a drawer, under a heading. */
export function DrawerSection({ title, hint, children }: DrawerSectionProps): JSX.Element {
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold wrap-anywhere">{title}</h3>
      {children}
      {hint !== undefined && <p className="mt-2 text-xs text-muted">{hint}</p>}
    </section>
  );
}
