import { useRouter } from '@tanstack/react-router';
import type { ErrorComponentProps } from '@tanstack/react-router';
import type { JSX } from 'react';
import { ApiError } from '../api.ts';
import { reloadPage } from '../lazy-page.ts';
import { shell as t } from '../strings/index.ts';
import { Card } from '../ui/card.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { PageHeader } from '../ui/page-header.tsx';
import { BareLayout } from './bare-layout.tsx';

/** Shown in place of a page that failed. */
export function PageError({ error, reset }: ErrorComponentProps): JSX.Element {
  const router = useRouter();
  const retry = async (): Promise<void> => {
    // The browser never requests a script again that failed to load. A reload does, and also picks up a new version.
    if (!(error instanceof ApiError)) return reloadPage();
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

/** Shown if the layout itself failed. */
export function LayoutError(props: ErrorComponentProps): JSX.Element {
  return (
    <BareLayout>
      <PageError {...props} />
    </BareLayout>
  );
}
