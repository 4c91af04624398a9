import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import type { JSX } from 'react';
import { isMinorStep, undoStep } from '../../back-button.ts';
import { compact } from '../../search-params.ts';
import { alerts as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Channels } from './channels.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { alertsQuery } from './queries.ts';
import { RuleForm } from './rule-form.tsx';
import { RuleList } from './rule-list.tsx';

const route = getRouteApi('/app/alerts');

/** Alerts: rules, channels and delivery log. */
export function AlertsPage(): JSX.Element {
  const { data, error, refetch } = useQuery(alertsQuery);
  const { form } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (id: string | undefined): void =>
    void navigate({ search: (old) => compact({ ...old, form: id }), replace: isMinorStep(), resetScroll: false });
  const rule = data?.rules.find(({ id }) => id === form);
  return (
    <>
      <PageHeader title={t.title} text={t.text} actions={<AddButton onAdd={() => open('new')} />} />
      <div className="flex flex-col gap-6">
        <RuleList rules={data?.rules} error={error} onRetry={() => void refetch()} onOpen={open} />
        {data === undefined && error === null && <Skeleton className="h-96 lg:h-60" />}
        {data !== undefined && <Channels content={data} />}
        <DeliveryLog deliveries={data?.deliveries} error={error} onRetry={() => void refetch()} onAdd={() => open('new')} />
      </div>
      {data !== undefined && (form === 'new' || rule !== undefined) && (
        <RuleForm key={form} content={data} rule={rule} onClose={() => undoStep(() => open(undefined))} />
      )}
    </>
  );
}

function AddButton({ onAdd }: { readonly onAdd: () => void }): JSX.Element {
  return (
    <Button variant="primary" onClick={onAdd}>
      <Plus aria-hidden="true" />
      {t.add}
    </Button>
  );
}
