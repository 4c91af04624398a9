import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { shell as t } from '../strings/index.ts';
import { Card } from '../ui/card.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { PageHeader } from '../ui/page-header.tsx';
import { BareLayout } from './bare-layout.tsx';

/** A page that failed, in the place of the page. */
export function Broken({ error, reset }: ErrorComponentProps): JSX.Element {
  const router = useRouter();
  const retry = async (): Promise<void> => {
    // A script that did not come is never asked for again; a new page asks, for those of a new version as well.
    if (!(error instanceof ApiError)) return location.reload();
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
