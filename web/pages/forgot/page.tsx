import type { JSX } from 'react';
import { forgot as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Forgotten password. */
export function ForgotPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
