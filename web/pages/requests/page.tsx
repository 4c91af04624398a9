import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import type { JSX } from 'react';
import { formatUsd } from '../../money.ts';
import { useNames } from '../../names.ts';
import { formatCount } from '../../numbers.ts';
import { compact, type ChangeOf } from '../../search-params.ts';
import { requests as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { usePages } from '../../use-pages.ts';
import { useZoneOfAddress } from '../../zone.ts';
import { CutShort } from './cut-short.tsx';
import { RequestDrawer } from './drawer.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Exports } from './exports.tsx';
import { RequestFilters } from './filters.tsx';
import { Histogram } from './histogram.tsx';
import { filterOf, histogramQuery, pageQuery } from './queries.ts';
import { FILTERS, type RequestsSearch } from './search.ts';
import { keyColumn, RequestTable } from './table.tsx';

const route = getRouteApi('/app/requests');

/** Every request, with its details in a drawer that has an address of its own. */
export function RequestsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneOfAddress();
  const names = useNames();
  const filter = filterOf(search, zone, Date.now());
  const histogram = useQuery(histogramQuery(filter, search));
  const change = (changed: ChangeOf<RequestsSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, before: undefined, ...changed }), replace: true });
  const open = (request: string | undefined): void => void navigate({ search: (old) => compact({ ...old, request }) });
  return (
    <>
      <PageHeader
        title={t.title}
        text={t.text}
        actions={
          <>
            <LiveButton search={search} onChange={change} />
            <ExportMenu filter={filter} zone={zone} isLarge={histogram.data?.isLarge} />
          </>
        }
      />
      <Exports />
      <RequestFilters search={search} names={names} onChange={change} />
      <Card
        title={t.histogram}
        hint={formatSpan({ fromMs: Number(filter['from']), toMs: Number(filter['to']) }, zone)}
        actions={histogram.data?.ignored.length === 0 && <SumsLine total={histogram.data.total} />}
      >
        {histogram.data === undefined ? (
          <Waiting error={histogram.error} onRetry={() => void histogram.refetch()} className="h-36" />
        ) : (
          <Histogram histogram={histogram.data} zone={zone} />
        )}
      </Card>
      <RequestList search={search} filter={filter} onChange={change} onOpen={open} />
      <RequestDrawer id={search.request} names={names} onClose={() => open(undefined)} />
    </>
  );
}

function SumsLine({
  total,
}: {
  readonly total: { readonly requests: string | number | null; readonly spend: string | number | null };
}): JSX.Element {
  return <span className="figures text-sm">{t.sums(formatCount(Number(total.requests)), formatUsd(String(total.spend)))}</span>;
}

function LiveButton({
  search,
  onChange,
}: {
  readonly search: RequestsSearch;
  readonly onChange: (change: ChangeOf<RequestsSearch>) => void;
}): JSX.Element {
  const isLive = search.live === 'yes';
  return (
    <Button aria-pressed={isLive} title={t.liveHint} onClick={() => onChange({ live: isLive ? undefined : 'yes' })}>
      {isLive ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
      {isLive ? t.pause : t.live}
    </Button>
  );
}

interface RequestListProps {
  readonly search: RequestsSearch;
  readonly filter: Readonly<Record<string, string>>;
  readonly onChange: (change: ChangeOf<RequestsSearch>) => void;
  readonly onOpen: (id: string) => void;
}

function RequestList({ search, filter, onChange, onOpen }: RequestListProps): JSX.Element {
  const names = useNames();
  const { data: page, error, refetch } = useQuery(pageQuery(filter, search));
  const pages = usePages({ at: search.before, next: page?.next, onGo: (before) => onChange({ before, live: undefined }) });
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = (): void => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  const isUnfinished = page?.isCutShort === true;
  return (
    <Card className="mt-6" isFlush>
      {isUnfinished && page.requests.length === 0 ? null : (
        <RequestTable
          requests={page?.requests}
          error={error}
          onRetry={() => void refetch()}
          whose={keyColumn(names)}
          action={
            <LinkButton to="/start" variant="primary">
              {t.start}
            </LinkButton>
          }
          openId={search.request}
          onOpen={onOpen}
          onClearFilters={isFiltered ? clear : undefined}
        />
      )}
      {isUnfinished && <CutShort next={page.next} onOlder={pages.onNext} />}
      <Pagination text={page === undefined ? undefined : t.shown(page.requests.length)} {...pages} />
    </Card>
  );
}
