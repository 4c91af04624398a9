import type { JSX } from 'react';
import { keys as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** API keys. */
export function KeysPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
