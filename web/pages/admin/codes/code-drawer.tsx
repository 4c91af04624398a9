import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { formatUsd } from '../../../money.ts';
import { formatCount } from '../../../numbers.ts';
import { adminCodes as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { ConfirmButton } from '../../../ui/confirm-button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { Pagination } from '../../../ui/pagination.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { usePages } from '../../../use-pages.ts';
import { codeQuery, describeBenefit, stop, type Code, type Redemption } from './queries.ts';
import { StateBadge, Validity } from './code-state.tsx';

interface CodeDrawerProps {
  readonly id: string | undefined;
  /** Start of the page of redemptions. */
  readonly before: string | undefined;
  readonly onPage: (before: string | undefined) => void;
  readonly onClose: () => void;
}

/** One promo code: its rules and redemptions. */
export function CodeDrawer(props: CodeDrawerProps): JSX.Element {
  const { id, onClose } = props;
  return (
    <Drawer
      isOpen={id !== undefined}
      onClose={onClose}
      title={t.drawer.title}
      documentTitle={id}
      text={id !== undefined && <Copyable text={id} what={t.id} />}
    >
      {id !== undefined && <Details {...props} id={id} />}
    </Drawer>
  );
}

const COLUMNS: readonly Column<Redemption>[] = [
  {
    id: 'who',
    header: t.drawer.who,
    cell: ({ email }) => (
      <>
        <span className="wrap-anywhere">
          <Breakable text={accountLabel(email)} />
        </span>{' '}
        <CopyButton text={email} what={t.address} />
      </>
    ),
  },
  { id: 'when', header: t.drawer.when, cell: ({ createdAtMs }) => <DateTime atMs={createdAtMs} mayBreak /> },
  { id: 'gave', header: t.drawer.gave, cell: describeGiven },
];

function describeGiven({ benefit, givenUsd, isWaiting }: Redemption): string {
  if (isWaiting) return t.drawer.waiting;
  return givenUsd === null ? describeBenefit(benefit) : formatUsd(givenUsd);
}

function Details({ id, before, onPage }: CodeDrawerProps & { readonly id: string }): JSX.Element {
  const { data, error, refetch } = useQuery(codeQuery(id, before));
  const pages = usePages({ at: before, next: data?.next, onGo: onPage });
  if (data === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-96" />;
  return (
    <div className="flex flex-col gap-6">
      <Facts facts={factsOf(data.code)} />
      {data.code.state !== 'stopped' && (
        <div>
          <ConfirmButton label={t.stop} title={t.stopTitle} text={t.stopText} onConfirm={() => stop({ id })} />
        </div>
      )}
      <DrawerSection title={t.drawer.redemptions}>
        <Table
          caption={t.drawer.redemptions}
          columns={COLUMNS}
          rows={data.redemptions}
          rowId={({ accountId, n }) => `${accountId} ${n}`}
          error={error}
          onRetry={() => void refetch()}
          empty={t.drawer.empty}
        />
        {data.redemptions.length > 0 && <Pagination {...pages} />}
      </DrawerSection>
    </div>
  );
}

function factsOf(code: Code): Parameters<typeof Facts>[0]['facts'] {
  const { benefit, newAccountDays, minimumTopUpUsd } = code;
  return [
    [t.columns.code, <code key="code">{code.shown}</code>],
    [t.columns.state, <StateBadge key="state" state={code.state} />],
    [t.columns.gives, describeBenefit(benefit)],
    [t.drawer.creditEnds, benefit.creditDays === null ? null : t.drawer.after(formatCount(benefit.creditDays))],
    [t.columns.used, t.usedOf(formatCount(code.used), formatCount(code.uses))],
    [t.drawer.perAccount, t.drawer.uses(formatCount(code.perAccount))],
    [t.drawer.newAccounts, newAccountDays === null ? null : t.drawer.younger(formatCount(newAccountDays))],
    [t.drawer.minimum, minimumTopUpUsd === null ? null : formatUsd(minimumTopUpUsd)],
    [t.columns.valid, <Validity key="valid" code={code} />],
    [t.columns.campaign, code.campaign === code.id ? null : code.campaign],
    [t.drawer.made, <DateTime key="made" atMs={code.createdAtMs} />],
  ];
}
