import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { Card } from '../ui/card.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { PageHeader } from '../ui/page-header.tsx';
import { BareLayout } from './bare-layout.tsx';

/** A page that failed, in the place of the page. */
export function Broken({ error, reset }: ErrorComponentProps): JSX.Element {
  const router = useRouter();
  const retry = async (): Promise<void> => {
    await router.invalidate();
    reset();
  };
  return (
    <>
      <PageHeader title={t.failed} />
      <Card isFlush>
        <ErrorState error={error} onRetry={() => void retry()} />
      </Card>
    </>
  );
}

/** What failed before anything could stand around a page. */
export function BrokenOutside(props: ErrorComponentProps): JSX.Element {
  return (
    <BareLayout>
      <Broken {...props} />
    </BareLayout>
  );
}
