import type { JSX } from 'react';
import { BareLayout } from '../../layout/bare-layout.tsx';
import { notFound as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** An address that leads nowhere, in the place of a page. */
export function NotFoundPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {/* No link of the router: it would stay in the account that an operator looks at. */}
      <a href="/" className={buttonClass({ variant: 'primary' })}>
        {t.home}
      </a>
    </>
  );
}

/** One that no page is near. */
export function NotFoundOutside(): JSX.Element {
  return (
    <BareLayout>
      <NotFoundPage />
    </BareLayout>
  );
}
