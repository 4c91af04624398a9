import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { adminFirstSteps as t } from '../../../strings/index.ts';
import { DAY_MS } from '../../../time.ts';
import { Banner } from '../../../ui/banner.tsx';
import { Card } from '../../../ui/card.tsx';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { LinkButton } from '../../../ui/link-button.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Select } from '../../../ui/select.tsx';
import { StepItem } from '../../../ui/step-item.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { providersQuery, type ProviderLists, type ShownProvider } from '../providers/queries.ts';
import { TestCall } from '../providers/test-call.tsx';
import { serviceQuery, type Service } from '../settings/queries.ts';
import { TestEmail } from '../settings/test-email.tsx';

const BACKUP_DAYS = 7;

/** Checklist from a new installation to a service that others can use. */
export function FirstStepsPage(): JSX.Element {
  const service = useQuery(serviceQuery);
  const providers = useQuery(providersQuery);
  const retry = (): void => {
    void service.refetch();
    void providers.refetch();
  };
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {service.data === undefined || providers.data === undefined ? (
        <LoadingOrError error={service.error ?? providers.error} onRetry={retry} className="h-96" />
      ) : (
        <Steps steps={describeSteps(service.data, providers.data)} />
      )}
    </>
  );
}

/** One step: texts before and after it is done, and code to copy. */
interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly isOptional?: boolean;
  readonly toDo: ReactNode;
  readonly code?: { readonly label: string; readonly text: string };
  readonly done: ReactNode;
}

function describeSteps(service: Service, { configured, known }: ProviderLists): readonly Step[] {
  const valueOf = (name: string): string | undefined => service.settings.find((setting) => setting.name === name)?.value ?? undefined;
  const url = valueOf('PUBLIC_URL') ?? '';
  const realProviders = configured.filter(({ id }) => id !== 'sandbox');
  const { backup, database } = service;
  const steps: readonly (Step | undefined)[] = [
    { title: t.factor.title, isDone: true, toDo: undefined, done: t.factor.done },
    {
      title: t.address.title,
      isDone: url.startsWith('https:'),
      toDo: t.address.toDo(url),
      code: { label: t.environment, text: t.address.code },
      done: t.address.done(url),
    },
    {
      title: t.provider.title,
      isDone: realProviders.length > 0,
      toDo: (
        <>
          {t.provider.toDo} <span className="font-mono text-xs">{known.map(({ variables }) => variables[0]).join(', ')}</span>
        </>
      ),
      code: { label: t.environment, text: t.provider.code },
      done: <TryProvider providers={realProviders} />,
    },
    {
      title: t.mail.title,
      isDone: service.hasMail,
      toDo: t.mail.toDo,
      code: { label: t.environment, text: t.mail.code },
      done: <TestEmail hasMail />,
    },
    {
      title: t.payments.title,
      isDone: valueOf('STRIPE_WEBHOOK_SECRET') !== undefined || valueOf('payments.bank_transfer') !== undefined,
      isOptional: true,
      toDo: t.payments.toDo,
      code: { label: t.environment, text: t.payments.code },
      done: t.payments.done,
    },
    // Backups of PostgreSQL are outside the scope of this checklist.
    database.kind === 'sqlite'
      ? {
          title: t.backup.title,
          isDone: backup !== null && backup.atMs > Date.now() - BACKUP_DAYS * DAY_MS,
          toDo: t.backup.toDo,
          code: { label: t.command, text: t.backup.code },
          done: (
            <>
              {t.backup.done} <DateTime atMs={backup?.atMs ?? 0} />
            </>
          ),
        }
      : undefined,
  ];
  return steps.filter((step) => step !== undefined);
}

function Steps({ steps }: { readonly steps: readonly Step[] }): JSX.Element {
  const isReady = steps.every(({ isDone, isOptional }) => isDone || isOptional === true);
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      {isReady && (
        <Banner
          tone="good"
          title={t.complete.title}
          action={
            <LinkButton to="/start" size="sm">
              {t.complete.action}
            </LinkButton>
          }
        >
          {t.complete.text}
        </Banner>
      )}
      <Card title={t.progress(steps.filter(({ isDone }) => isDone).length, steps.length)} isFlush>
        <ol className="divide-y divide-line">
          {steps.map(({ title, isDone, isOptional, toDo, code, done }) => (
            <StepItem key={title} title={isOptional === true ? t.optional(title) : title} isDone={isDone}>
              <div className="mt-1 text-sm wrap-anywhere text-muted">{isDone ? done : toDo}</div>
              {!isDone && code !== undefined && (
                <CodeBlock snippets={[{ id: 'code', label: code.label, code: code.text }]} className="mt-3" />
              )}
            </StepItem>
          ))}
        </ol>
      </Card>
    </div>
  );
}

function TryProvider({ providers }: { readonly providers: readonly ShownProvider[] }): JSX.Element {
  const [id, setId] = useState(providers[0]?.id ?? '');
  const chosen = providers.find((provider) => provider.id === id);
  return (
    <>
      <p className="mb-3">{t.provider.done}</p>
      {providers.length > 1 && (
        <Select
          aria-label={t.provider.which}
          value={id}
          choices={providers.map((provider) => ({ value: provider.id, label: provider.name }))}
          onChoose={setId}
          className="mb-2 max-w-full"
        />
      )}
      {chosen !== undefined && <TestCall key={chosen.id} provider={chosen} />}
    </>
  );
}
