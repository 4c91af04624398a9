import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Download, Plus } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { isMinorStep, undoStep } from '../../../back-button.ts';
import { formatCount } from '../../../numbers.ts';
import { compact, nonBlank, type ChangeOf } from '../../../search-params.ts';
import { adminCodes as t } from '../../../strings/index.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmButton } from '../../../ui/confirm-button.tsx';
import { FilterBar, SearchInput } from '../../../ui/filter-bar.tsx';
import { FilterSelect, labelled, plainChoices } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { usePages } from '../../../use-pages.ts';
import { useZone } from '../../../zone.ts';
import { CodeDrawer } from './code-drawer.tsx';
import { FreshCodes, type FreshCode } from './fresh-codes.tsx';
import { CreateCodes } from './create-codes.tsx';
import { codesQuery, describeBenefit, stop, type Code, type CodesContent } from './queries.ts';
import { STATES, type CodesSearch } from './search.ts';
import { StateBadge, Validity } from './code-state.tsx';

const route = getRouteApi('/app/admin/codes');

const COLUMNS: readonly Column<Code>[] = [
  {
    id: 'code',
    header: t.columns.code,
    cell: ({ id, shown, benefit }) => (
      <>
        <Link from="/admin/codes" to="/admin/codes" search={(old) => ({ ...old, code: id })} resetScroll={false} className="link font-mono">
          {shown}
        </Link>
        <span className="block text-xs text-muted sm:hidden">{describeBenefit(benefit)}</span>
      </>
    ),
  },
  {
    id: 'campaign',
    header: t.columns.campaign,
    cell: (code) => <Campaign code={code} />,
    isWideOnly: true,
    className: 'max-w-48 truncate',
  },
  { id: 'gives', header: t.columns.gives, cell: ({ benefit }) => describeBenefit(benefit), isWideOnly: true },
  {
    id: 'used',
    header: t.columns.used,
    align: 'right',
    cell: ({ used, uses }) => <span className="figures whitespace-nowrap">{t.usedOf(formatCount(used), formatCount(uses))}</span>,
  },
  { id: 'valid', header: t.columns.valid, cell: (code) => <Validity code={code} />, isWideOnly: true },
  { id: 'state', header: t.columns.state, cell: ({ state }) => <StateBadge state={state} /> },
];

/** Promo codes: the list, the form for new ones, and the redemptions of each. */
export function CodesPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(codesQuery(search));
  const go = (change: ChangeOf<CodesSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }), replace: isMinorStep(), resetScroll: false });
  const pages = usePages({ at: search.before, next: data?.next, onGo: (before) => go({ before }) });
  const isFiltered = search.campaign !== undefined || search.q !== undefined || search.state !== undefined;
  const clear = isFiltered ? () => go({ campaign: undefined, q: undefined, state: undefined, before: undefined }) : undefined;
  return (
    <>
      <PageHeader title={t.title} text={t.text} actions={<CreateButton onCreate={() => go({ form: 'open' })} />} />
      <FilterBar onClear={clear}>
        <SearchInput label={t.search} value={search.q ?? ''} onText={(text) => go({ q: nonBlank(text), before: undefined })} />
        <FilterSelect
          label={t.columns.campaign}
          all={t.anyCampaign}
          choices={plainChoices(data?.campaigns ?? [])}
          value={search.campaign}
          onChoose={(campaign) => go({ campaign, before: undefined })}
        />
        <FilterSelect
          label={t.columns.state}
          all={t.anyState}
          choices={labelled(STATES, t.states)}
          value={search.state}
          onChoose={(state) => go({ state, before: undefined })}
        />
      </FilterBar>
      {search.campaign !== undefined && <CampaignBar name={search.campaign} sums={data?.campaign} />}
      <Card isFlush>
        <Table
          caption={t.caption}
          columns={COLUMNS}
          rows={data?.codes}
          rowId={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={{ ...t.empty, action: <Button onClick={() => go({ form: 'open' })}>{t.make}</Button> }}
          onClearFilters={clear}
          openId={search.code}
        />
        <Pagination {...pages} />
      </Card>
      <NewCodes plans={data?.plans} isOpen={search.form === 'open'} onClose={() => undoStep(() => go({ form: undefined }))} />
      <CodeDrawer
        id={search.code}
        before={search.uses}
        onPage={(uses) => go({ uses })}
        onClose={() => go({ code: undefined, uses: undefined })}
      />
    </>
  );
}

interface NewCodesProps {
  readonly plans: CodesContent['plans'] | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The form for new codes, and then the codes created. */
function NewCodes({ plans, isOpen, onClose }: NewCodesProps): JSX.Element | null {
  const [fresh, setFresh] = useState<readonly FreshCode[]>();
  const show = (created: readonly FreshCode[]): void => {
    onClose();
    setFresh(created);
  };
  if (fresh !== undefined) return <FreshCodes codes={fresh} onStored={() => setFresh(undefined)} />;
  return isOpen && plans !== undefined ? <CreateCodes plans={plans} onClose={onClose} onCreated={show} /> : null;
}

function CreateButton({ onCreate }: { readonly onCreate: () => void }): JSX.Element {
  return (
    <Button variant="primary" onClick={onCreate}>
      <Plus aria-hidden="true" />
      {t.make}
    </Button>
  );
}

/** Link to the code's campaign. Codes created without one form a campaign with the id of the first code, which is not shown. */
function Campaign({ code: { id, campaign } }: { readonly code: Code }): JSX.Element | null {
  if (campaign === id) return null;
  return (
    <Link to="/admin/codes" search={{ campaign }} className="link" title={campaign}>
      {campaign}
    </Link>
  );
}

/** Totals of a campaign, and actions on all of its codes. */
function CampaignBar({ name, sums }: { readonly name: string; readonly sums: CodesContent['campaign'] | undefined }): JSX.Element {
  const zone = useZone();
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2 text-sm">
      <p className="mr-2 text-muted">
        {sums && t.campaign.sums(formatCount(sums.codes), formatCount(sums.running), formatCount(sums.used))}
      </p>
      <a
        href={`/api/admin/codes/redemptions/export?${new URLSearchParams({ campaign: name, zone })}`}
        download
        className={buttonClass({ size: 'sm' })}
      >
        <Download aria-hidden="true" />
        {t.campaign.csv}
      </a>
      {sums && sums.running > 0 && (
        <ConfirmButton
          label={t.campaign.stop}
          title={t.campaign.title(name)}
          text={t.stopText}
          onConfirm={() => stop({ campaign: name })}
        />
      )}
    </div>
  );
}
