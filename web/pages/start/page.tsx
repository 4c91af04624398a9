import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { useFreshKey } from '../../fresh-key.ts';
import { modelsQuery } from '../../queries.ts';
import { start as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { CallCard } from './call-card.tsx';
import { Steps } from './steps.tsx';
import { TestCard } from './test-card.tsx';

/** First steps of a new account, up to the first answer. */
export function StartPage(): JSX.Element {
  const fresh = useFreshKey();
  const { data: list, error, refetch } = useQuery(modelsQuery);
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <div className="grid items-start gap-6 xl:grid-cols-[22rem_minmax(0,1fr)]">
        <Steps />
        <div className="flex min-w-0 flex-col gap-6">
          {fresh !== undefined && (
            <Card title={t.secret.title} hint={t.secret.text}>
              <Copyable text={fresh.secret} what={t.secret.what} isWhole className="rounded-md bg-accent-soft px-2 py-1" />
            </Card>
          )}
          <CallCard models={list?.models} error={error} onRetry={() => void refetch()} secret={fresh?.secret} />
          <TestCard models={list?.models} secret={fresh?.secret} />
        </div>
      </div>
    </>
  );
}
