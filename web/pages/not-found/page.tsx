import type { JSX } from 'react';
import { notFound as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** An address that leads nowhere. */
export function NotFoundPage(): JSX.Element {
  return (
    <main id="content" className="mx-auto max-w-lg px-4 py-24">
      <PageHeader title={t.title} text={t.text} />
      {/* No link of the router: it would stay in the account that an operator looks at. */}
      <a href="/" className={buttonClass({ variant: 'primary' })}>
        {t.home}
      </a>
    </main>
  );
}
