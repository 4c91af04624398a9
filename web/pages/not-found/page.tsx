import type { JSX } from 'react';
import { notFound as t } from '../../strings/index.ts';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** An address that leads nowhere. */
export function NotFoundPage(): JSX.Element {
  return (
    <main id="content" className="mx-auto max-w-lg px-4 py-24">
      <PageHeader title={t.title} text={t.text} />
      <LinkButton to="/" variant="primary">
        {t.home}
      </LinkButton>
    </main>
  );
}
