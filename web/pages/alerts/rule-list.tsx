import { useMutation } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { alerts as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { RelativeTime } from '../../ui/date-time.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { refreshAlerts } from './queries.ts';
import type { Rule } from './queries.ts';

interface RuleListProps {
  readonly rules: readonly Rule[] | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  /** Opens the form for an alert, or for a new one with `new`. */
  readonly onOpen: (id: string) => void;
}

/** The account's alerts. */
export function RuleList({ rules, error, onRetry, onOpen }: RuleListProps): JSX.Element {
  return (
    <Card title={t.rules.title} isFlush>
      <Table
        caption={t.title}
        rows={rules}
        rowId={({ id }) => id}
        error={error}
        onRetry={onRetry}
        empty={{
          ...t.empty,
          action: (
            <Button isChange onClick={() => onOpen('new')}>
              {t.add}
            </Button>
          ),
        }}
        columns={[
          {
            id: 'what',
            header: t.rules.what,
            className: 'min-w-40',
            cell: (rule) => (
              <>
                <span className="font-medium">{sentenceOf(rule)}</span>
                <span className="block text-xs text-muted sm:hidden">{channelsOf(rule)}</span>
              </>
            ),
          },
          { id: 'state', header: t.rules.state, className: 'min-w-36', cell: (rule) => <State rule={rule} /> },
          { id: 'by', header: t.rules.by, isWideOnly: true, cell: channelsOf },
          {
            id: 'actions',
            header: <span className="sr-only">{t.rules.actions}</span>,
            align: 'right',
            cell: (rule) => <Actions rule={rule} onOpen={onOpen} />,
          },
        ]}
      />
    </Card>
  );
}

/** An alert fires once per crossing. Until the value recovers, nothing more is sent. */
function State({ rule: { kind, firedAtMs } }: { readonly rule: Rule }): JSX.Element {
  if (firedAtMs === null) return <Badge tone="neutral">{t.rules.armed}</Badge>;
  return (
    <>
      <Badge tone="warn">{t.rules.fired}</Badge>
      <span className="block text-xs text-muted">
        <RelativeTime atMs={firedAtMs} />, {kind === 'sign_in' ? t.rules.onceEach : t.rules.once}
      </span>
    </>
  );
}

function Actions({ rule, onOpen }: { readonly rule: Rule; readonly onOpen: (id: string) => void }): JSX.Element {
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.alerts.rules[':id'].$delete({ param: { id: rule.id } })),
    onSuccess: async () => {
      toast('good', t.deleted);
      await refreshAlerts();
    },
    onError: (error) => toast('bad', error.message),
  });
  const name = sentenceOf(rule);
  return (
    <span className="inline-flex flex-col gap-2 sm:flex-row">
      <Button size="sm" isChange aria-label={`${t.edit}: ${name}`} onClick={() => onOpen(rule.id)}>
        {t.edit}
      </Button>
      <Button size="sm" variant="danger" aria-label={`${t.delete}: ${name}`} isBusy={isPending} onClick={() => mutate()}>
        {t.delete}
      </Button>
    </span>
  );
}

function sentenceOf({ kind, unit, threshold }: Rule): string {
  const value = { usd: () => formatUsd(threshold), percent: () => t.percent(threshold), days: () => t.days(threshold), none: () => '' }[
    unit
  ]();
  return t.sentences[kind](value);
}

function channelsOf({ byMail, byWebhook }: Rule): string {
  return [...(byMail ? [t.rules.mail] : []), ...(byWebhook ? [t.rules.webhook] : [])].join(', ');
}
