import type { JSX } from 'react';
import { key as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** API key. */
export function KeyPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
