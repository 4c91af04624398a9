import type { JSX } from 'react';
import { requests as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Requests. */
export function RequestsPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
