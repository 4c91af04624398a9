import type { JSX } from 'react';
import { twoFactor as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';

/** Second factor. */
export function TwoFactorPage(): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} />
      <Card isFlush>
        <EmptyState {...t.empty} />
      </Card>
    </>
  );
}
