import type { JSX, ReactNode } from 'react';
import { Brand } from './brand.tsx';

/** Minimal layout for errors outside the other layouts: only the brand, which links to the start page. */
export function BareLayout({ children }: { readonly children: ReactNode }): JSX.Element {
  return (
    <div className="mx-auto max-w-[76rem] px-4 py-4 sm:px-6">
      <header className="mb-8">
        <Brand />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
