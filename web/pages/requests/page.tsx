import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Pause, Play } from 'lucide-react';
import type { JSX } from 'react';
import { isMinorStep } from '../../back-button.ts';
import { formatUsd } from '../../money.ts';
import { useNames, type Names } from '../../names.ts';
import { formatCount } from '../../numbers.ts';
import { compact, type ChangeOf } from '../../search-params.ts';
import { requests as t } from '../../strings/index.ts';
import { formatSpan } from '../../time.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { usePages } from '../../use-pages.ts';
import { useZoneInUrl } from '../../zone.ts';
import { CutShort } from './cut-short.tsx';
import { RequestDrawer } from './drawer.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Exports } from './exports.tsx';
import { RequestFilters, ViewSwitch } from './filters.tsx';
import { Histogram } from './histogram.tsx';
import { filterOf, histogramQuery, pageQuery, refusedOneQuery } from './queries.ts';
import { RefusedFilters, RefusedList } from './refused-list.tsx';
import { RefusedTable } from './refused-table.tsx';
import { FILTERS, type RequestsSearch } from './search.ts';
import { keyColumn, RequestTable } from './table.tsx';

const route = getRouteApi('/app/requests');

type Change = (changed: ChangeOf<RequestsSearch>) => void;

interface ViewProps {
  readonly search: RequestsSearch;
  readonly zone: string;
  readonly names: Names;
  readonly onChange: Change;
  readonly onOpen: (changed: Pick<RequestsSearch, 'view'> & { readonly request: string | undefined }) => void;
}

/** Admitted and refused requests, with details in a drawer that has its own URL. */
export function RequestsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const zone = useZoneInUrl();
  const names = useNames();
  const change: Change = (changed) =>
    void navigate({
      search: (old) => compact({ ...old, before: undefined, ...changed }),
      replace: isMinorStep(),
      resetScroll: 'before' in changed,
    });
  const open: ViewProps['onOpen'] = (changed) => void navigate({ search: (old) => compact({ ...old, ...changed }), resetScroll: false });
  const View = search.view === 'refused' ? RefusedView : AllView;
  return <View search={search} zone={zone} names={names} onChange={change} onOpen={open} />;
}

function AllView({ search, zone, names, onChange, onOpen }: ViewProps): JSX.Element {
  const filter = filterOf(search, zone, Date.now());
  const histogram = useQuery(histogramQuery(filter, search));
  return (
    <>
      <PageHeader
        title={t.title}
        text={t.text}
        actions={
          <>
            <LiveButton search={search} onChange={onChange} />
            <ExportMenu filter={filter} zone={zone} isLarge={histogram.data?.isLarge} />
          </>
        }
      />
      <Exports />
      <ViewSwitch search={search} onChange={onChange} />
      <RequestFilters search={search} names={names} onChange={onChange} />
      <Card
        title={t.histogram}
        hint={formatSpan({ fromMs: Number(filter['from']), toMs: Number(filter['to']) }, zone)}
        actions={histogram.data?.ignored.length === 0 && <SumsLine total={histogram.data.total} />}
      >
        {histogram.data === undefined ? (
          <LoadingOrError error={histogram.error} onRetry={() => void histogram.refetch()} className="h-36" />
        ) : (
          <Histogram histogram={histogram.data} zone={zone} />
        )}
      </Card>
      <RequestList search={search} filter={filter} names={names} onChange={onChange} onOpen={onOpen} />
      <RequestDrawer id={search.request} isRefused={false} names={names} onClose={() => onOpen({ request: undefined })} />
    </>
  );
}

function RefusedView({ search, names, onChange, onOpen }: ViewProps): JSX.Element {
  return (
    <>
      <PageHeader title={t.title} text={t.refused.text} actions={<LiveButton search={search} onChange={onChange} />} />
      <ViewSwitch search={search} onChange={onChange} />
      <RefusedFilters search={search} names={names} onChange={onChange} />
      <RefusedList search={search} names={names} onChange={onChange} onOpen={(request) => onOpen({ request })} />
      <RequestDrawer id={search.request} isRefused names={names} onClose={() => onOpen({ request: undefined })} />
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

function LiveButton({ search, onChange }: Pick<ViewProps, 'search' | 'onChange'>): JSX.Element {
  const isLive = search.live === 'yes';
  return (
    <Button title={t.liveHint} onClick={() => onChange({ live: isLive ? undefined : 'yes' })}>
      {isLive ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
      {isLive ? t.pause : t.live}
    </Button>
  );
}

function RequestList({
  search,
  filter,
  names,
  onChange,
  onOpen,
}: Omit<ViewProps, 'zone'> & { readonly filter: Readonly<Record<string, string>> }): JSX.Element {
  const { data: page, error, refetch } = useQuery(pageQuery(filter, search));
  const pages = usePages({ at: search.before, next: page?.next, onGo: (before) => onChange({ before, live: undefined }) });
  const refused = useQuery({ ...refusedOneQuery(search.q ?? ''), enabled: search.q !== undefined && page?.requests.length === 0 });
  const isFiltered = FILTERS.some((name) => search[name] !== undefined);
  const clear = (): void => onChange(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  const isCutShort = page?.isCutShort === true;
  if (page?.requests.length === 0 && refused.data?.refused.length === 1)
    return (
      <Card className="mt-6" title={t.refused.found} isFlush>
        <RefusedTable
          refused={refused.data.refused}
          ownerColumn={keyColumn(names)}
          openId={undefined}
          onOpen={(request) => onOpen({ view: 'refused', request })}
        />
      </Card>
    );
  return (
    <Card className="mt-6" isFlush>
      {isCutShort && page.requests.length === 0 ? null : (
        <RequestTable
          requests={refused.isLoading ? undefined : page?.requests}
          error={error}
          onRetry={() => void refetch()}
          ownerColumn={keyColumn(names)}
          action={
            <LinkButton to="/start" variant="primary">
              {t.start}
            </LinkButton>
          }
          openId={search.request}
          onOpen={(request) => onOpen({ request })}
          onClearFilters={isFiltered ? clear : undefined}
        />
      )}
      {isCutShort && <CutShort next={page.next} onOlder={pages.onOlder} />}
      <Pagination text={page === undefined ? undefined : t.shown(page.requests.length)} {...pages} />
    </Card>
  );
}
