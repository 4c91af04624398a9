import type { JSX } from 'react';
import { formatCount, formatMs } from '../../../numbers.ts';
import { adminProviders as t } from '../../../strings/index.ts';
import { DateTime } from '../../../ui/date-time.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { Stat } from '../../../ui/stat.tsx';
import type { ShownProvider } from './queries.ts';
import { ServiceSwitch } from './service-switch.tsx';
import { TestCall } from './test-call.tsx';

interface DrawerProps {
  readonly providers: readonly ShownProvider[] | undefined;
  readonly id: string | undefined;
  readonly onClose: () => void;
}

/** One provider: its configuration, its health, and a test call. */
export function ProviderDrawer({ providers, id, onClose }: DrawerProps): JSX.Element {
  const provider = providers?.find((each) => each.id === id);
  return (
    <Drawer
      isOpen={id !== undefined && providers !== undefined}
      onClose={onClose}
      title={provider?.name ?? id ?? ''}
      text={provider?.name === provider?.id ? undefined : provider?.id}
    >
      {provider === undefined ? <EmptyState title={t.unknown} /> : <Details provider={provider} />}
    </Drawer>
  );
}

function Details({ provider }: { readonly provider: ShownProvider }): JSX.Element {
  return (
    <div className="flex flex-col gap-7">
      <DrawerSection title={t.test.title} hint={t.test.text}>
        <TestCall key={provider.id} provider={provider} />
      </DrawerSection>
      <ProviderFacts provider={provider} />
      <DrawerSection title={t.service.title} hint={t.service.text}>
        <ServiceSwitch key={provider.id} provider={provider} />
      </DrawerSection>
      <DrawerSection title={t.health} hint={t.healthHint}>
        <div className="flex flex-col gap-4">
          <Record title={t.columns.hour} record={provider.hour} />
          <Record title={t.columns.day} record={provider.day} />
        </div>
        {provider.lastFailure !== null && (
          <p className="mt-4 text-sm">
            {t.lastFailure}: {provider.lastFailure.kind}, <DateTime atMs={provider.lastFailure.atMs} precision="second" />,{' '}
            <span className="wrap-anywhere">{provider.lastFailure.model}</span>
          </p>
        )}
      </DrawerSection>
      <DrawerSection title={t.models}>
        <ul className="text-sm">
          {provider.models.map(({ id, name }) => (
            <li key={`${id} ${name}`} className="wrap-anywhere">
              {id} <code className="font-mono text-xs text-muted">{name}</code>
            </li>
          ))}
        </ul>
        {provider.models.length === 0 && <p className="text-sm text-muted">{t.none}</p>}
      </DrawerSection>
    </div>
  );
}

function ProviderFacts({ provider }: { readonly provider: ShownProvider }): JSX.Element {
  const { dialect, host, credential, region, apiVersion, discovers } = provider;
  const facts = [
    [t.facts.dialect, dialect],
    [t.facts.host, host],
    [t.facts.credential, credential === null ? t.noCredential : t.setBy(credential)],
    [t.facts.region, region],
    [t.facts.apiVersion, apiVersion],
    [t.facts.discovers, discovers ? t.discovers : null],
  ] as const;
  return (
    <dl className="divide-y divide-line border-y border-line text-sm">
      {facts.map(
        ([label, value]) =>
          value !== null && (
            <div key={label} className="flex justify-between gap-4 py-2">
              <dt className="text-muted">{label}</dt>
              <dd className="text-right wrap-anywhere">{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Record({ title, record }: { readonly title: string; readonly record: ShownProvider['day'] }): JSX.Element {
  return (
    <div>
      <h4 className="mb-2 text-xs text-muted">{title}</h4>
      {record === null ? (
        <p className="text-sm text-muted">{t.noData}</p>
      ) : (
        <>
          <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
            <Stat label={t.calls} value={formatCount(record.calls)} />
            <Stat label={t.failures} value={formatCount(record.failures.reduce((sum, { count }) => sum + count, 0))} />
            <TimeStat label={t.columns.firstToken} times={record.firstToken} />
            <TimeStat label={t.columns.duration} times={record.duration} />
          </div>
          <ul className="mt-2 text-xs text-muted">
            {record.failures.map(({ kind, count }) => (
              <li key={kind}>
                {kind}: <span className="figures">{formatCount(count)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function TimeStat({
  label,
  times,
}: {
  readonly label: string;
  readonly times: NonNullable<ShownProvider['day']>['duration'];
}): JSX.Element {
  if (times === null) return <Stat label={label} value={null} />;
  return <Stat label={label} value={formatMs(times.p50Ms)} hint={t.p95(formatMs(times.p95Ms))} />;
}
