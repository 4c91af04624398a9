import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { isNotFound } from '../../api.ts';
import { compact } from '../../search-params.ts';
import { key as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { useZoneInUrl } from '../../zone.ts';
import { FreshSecret } from '../keys/fresh-secret.tsx';
import type { NewSecret } from '../keys/fresh-secret.tsx';
import { KeyStatus } from '../keys/key-status.tsx';
import { keyQuery } from '../keys/queries.ts';
import type { KeyPageContent } from '../keys/queries.ts';
import { History } from './history.tsx';
import { KeyActions } from './key-actions.tsx';
import { KeyUsage } from './key-usage.tsx';
import { LiveLimits } from './live-limits.tsx';
import { SecretList } from './secret-list.tsx';
import { TABS } from './search.ts';
import { Settings } from './settings.tsx';
import { Spend } from './spend.tsx';
import { TestCard } from './test-card.tsx';

const route = getRouteApi('/app/keys/$id');

/** One API key: its usage, its limits and its history. */
export function KeyPage(): JSX.Element {
  const { id } = route.useParams();
  const zone = useZoneInUrl();
  const { data, error, refetch } = useQuery(keyQuery(id, zone));
  const [fresh, setFresh] = useState<NewSecret>();
  const back = <Link to="/keys">{t.back}</Link>;
  if (data === undefined)
    return (
      <>
        <PageHeader title={t.title} back={back} />
        <Card isFlush>
          {isNotFound(error) ? (
            <EmptyState {...t.empty} />
          ) : (
            <LoadingOrError error={error} onRetry={() => void refetch()} className="m-5 h-40" />
          )}
        </Card>
      </>
    );
  const { key } = data;
  return (
    <>
      <PageHeader
        title={key.name}
        back={back}
        text={<KeyFacts content={data} />}
        actions={<KeyActions content={data} onRotated={setFresh} />}
      />
      <Tabs />
      <TabContent content={data} />
      {fresh !== undefined && <FreshSecret fresh={fresh} onStored={() => setFresh(undefined)} />}
    </>
  );
}

function KeyFacts({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      {key.isPlayground ? <Badge isPlain>{t.playground}</Badge> : <KeyStatus status={key.status} rotatingUntilMs={key.rotatingUntilMs} />}
      <Copyable text={key.id} what={t.id} />
      <span>
        {t.created} <DateTime atMs={key.createdAtMs} />
      </span>
      {key.tags.length > 0 && <span>{key.tags.join(', ')}</span>}
    </span>
  );
}

function Tabs(): JSX.Element {
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Segmented
      className="mb-6"
      label={t.tabs.label}
      value={tab}
      choices={TABS.map((value) => ({ value, label: t.tabs[value] }))}
      onChoose={(value) => void navigate({ search: (old) => compact({ ...old, tab: value === 'overview' ? undefined : value }) })}
    />
  );
}

function TabContent({ content }: { readonly content: KeyPageContent }): JSX.Element {
  const { tab = 'overview' } = route.useSearch();
  switch (tab) {
    case 'overview':
      return (
        <div className="grid gap-6 lg:grid-cols-2">
          <Spend content={content} />
          <LiveLimits id={content.key.id} />
          <KeyUsage content={content} />
          {!content.key.isPlayground && <SecretList content={content} />}
          <TestCard id={content.key.id} />
        </div>
      );
    case 'settings':
      return <Settings content={content} />;
    case 'history':
      return <History content={content} />;
  }
}
