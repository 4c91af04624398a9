import type { JSX, ReactNode } from 'react';
import { Brand } from './brand.tsx';

/** Around what is shown where no page could be: the name, which leads to the start, and nothing else. */
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
