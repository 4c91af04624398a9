import type { JSX } from 'react';
import { BareLayout } from '../../layout/bare-layout.tsx';
import { notFound as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Shown in place of a page that does not exist. */
export function NotFoundPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {/* Not a router link, which would stay under the prefix of a viewed account. */}
      <a href="/" className={buttonClass({ variant: 'primary' })}>
        {t.home}
      </a>
    </>
  );
}

/** Shown for a URL outside every layout. */
export function NotFoundWithoutLayout(): JSX.Element {
  return (
    <BareLayout>
      <NotFoundPage />
    </BareLayout>
  );
}
