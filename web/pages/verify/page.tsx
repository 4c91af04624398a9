import type { JSX } from 'react';
import { verify as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Verify your address. */
export function VerifyPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
