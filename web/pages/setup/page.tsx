import type { JSX } from 'react';
import { setup as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Set up this gate. */
export function SetupPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
