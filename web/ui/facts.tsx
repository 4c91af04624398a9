import type { JSX, ReactNode } from 'react';

/** A list of names and values. Null values are left out. The values of several lists are below each other. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }): JSX.Element {
  return (
    <dl className="grid gap-x-6 text-sm sm:grid-cols-[10.5rem_minmax(0,1fr)] sm:gap-y-1.5">
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="mb-2 min-w-0 break-words sm:mb-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
