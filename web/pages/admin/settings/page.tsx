import { useQuery } from '@tanstack/react-query';
import type { JSX, ReactNode } from 'react';
import { formatBytes, formatCount } from '../../../numbers.ts';
import { adminSettings as t } from '../../../strings/index.ts';
import { Breakable } from '../../../ui/breakable.tsx';
import { Card } from '../../../ui/card.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { BannerCard } from './banner-card.tsx';
import { InvitationsCard } from './invitations-card.tsx';
import { serviceQuery, type Service } from './queries.ts';
import { TestEmail } from './test-email.tsx';

/** Settings of the service, with invitations, announcement and test email. */
export function ServicePage(): JSX.Element {
  const { data: service, error, refetch } = useQuery(serviceQuery);
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {service === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-96" />
      ) : (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-6">
            <RunningNow service={service} />
            <BannerCard key={service.banner?.text} banner={service.banner} />
            <SettingsCard group="service" service={service} />
            <SettingsCard group="limits" service={service} />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <Card title={t.mail.title}>
              <TestEmail hasMail={service.hasMail} />
            </Card>
            <InvitationsCard invitations={service.invitations} />
            <SettingsCard group="people" service={service} />
            <SettingsCard group="payments" service={service} />
          </div>
        </div>
      )}
    </>
  );
}

type Setting = Service['settings'][number];

function RunningNow({ service: { version, database, nodes, backup } }: { readonly service: Service }): JSX.Element {
  const facts: [string, ReactNode][] = [
    [t.now.version, version],
    [t.now.database, `${t.now.kinds[database.kind]}, ${formatBytes(database.bytes)}`],
  ];
  if (nodes !== null)
    facts.push([
      t.now.nodes,
      <ul key="nodes">
        {nodes.map(({ id }) => (
          <li key={id}>
            <Copyable text={id} what={t.now.nodeId} />
          </li>
        ))}
      </ul>,
    ]);
  if (database.kind === 'sqlite')
    facts.push([
      t.now.backup,
      backup === null ? (
        t.now.noBackup
      ) : (
        <span key="backup" className="flex flex-col">
          <DateTime atMs={backup.atMs} />
          <Copyable text={backup.file} what={t.now.file} />
        </span>
      ),
    ]);
  return (
    <Card title={t.now.title}>
      <dl className="grid grid-cols-[minmax(7rem,auto)_minmax(0,1fr)] gap-x-6 gap-y-1.5 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** Tells whether a value is an amount. The number of a port is a name. */
function isAmount(name: string, value: string): boolean {
  return name !== 'PORT' && /^\d+$/u.test(value);
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    id: 'what',
    header: t.what,
    cell: ({ name }) => (
      <>
        <span className="block">{t.names[name] ?? name}</span>
        <span className="text-xs text-muted">
          <code className="font-mono wrap-anywhere">
            <Breakable text={name} />
          </code>
          , {/^[A-Z_]+$/u.test(name) ? t.environment : 'tollgate.yaml'}
        </span>
      </>
    ),
  },
  {
    id: 'value',
    header: t.value,
    className: 'min-w-32',
    cell: ({ name, value }) => (
      <span className={value === null ? 'text-muted' : 'font-medium wrap-anywhere'}>
        {value === null ? t.notSet : isAmount(name, value) ? formatCount(Number(value)) : <Breakable text={value} />}
      </span>
    ),
  },
];

function SettingsCard({ group, service }: { readonly group: Setting['group']; readonly service: Service }): JSX.Element {
  return (
    <Card title={t.groups[group]} isFlush>
      <Table
        caption={t.caption(t.groups[group])}
        columns={COLUMNS}
        rows={service.settings.filter((setting) => setting.group === group)}
        rowId={({ name }) => name}
        empty={t.empty}
      />
    </Card>
  );
}
