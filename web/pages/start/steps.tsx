import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { api, ApiError, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { setFreshKey } from '../../fresh-key.ts';
import { queryClient, setupQuery } from '../../queries.ts';
import { start as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { StepItem } from '../../ui/step-item.tsx';
import { toast } from '../../ui/toast.tsx';
import { readStartSearch } from './search.ts';

type Progress = ResponseBody<typeof api.start.$get>;

const POLL_MS = 3000;
const route = getRouteApi('/app/start');

/** Progress of the account; polled until every step is done. */
export const startQuery = queryOptions({
  queryKey: ['start'],
  queryFn: () => call(api.start.$get()),
  refetchInterval: ({ state }) => (state.data !== undefined && isComplete(state.data) ? false : POLL_MS),
});

/** Checklist that ticks itself and collapses when everything is done. */
export function Steps(): JSX.Element {
  const { data: progress, error, refetch } = useQuery(startQuery);
  const { steps } = route.useSearch();
  const navigate = route.useNavigate();
  const isAllDone = progress !== undefined && isComplete(progress);
  const toggle = (next: 'open' | undefined): void =>
    void navigate({ search: (old) => readStartSearch({ ...old, steps: next }), replace: true, resetScroll: false });
  if (error !== null && progress === undefined)
    return (
      <Card>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </Card>
    );
  if (isAllDone && steps !== 'open')
    return (
      <Card>
        <p className="font-semibold">{t.complete.title}</p>
        <p className="mt-1 mb-3 text-sm text-muted">{t.complete.text}</p>
        <Button size="sm" onClick={() => toggle('open')}>
          {t.complete.again}
        </Button>
      </Card>
    );
  return (
    <Card title={progress === undefined ? t.title : t.progress(countDone(progress), STEPS.length)} isFlush>
      <ol className="divide-y divide-line">
        {STEPS.map((step) => (
          <Step key={step.id} step={step} isDone={progress === undefined ? undefined : step.isDone(progress)} />
        ))}
      </ol>
      {isAllDone && (
        <p className="border-t border-line px-5 py-3">
          <Button size="sm" variant="quiet" onClick={() => toggle(undefined)}>
            {t.complete.hide}
          </Button>
        </p>
      )}
    </Card>
  );
}

interface StepKind {
  readonly id: keyof typeof t.steps;
  readonly isDone: (progress: Progress) => boolean;
  readonly action?: () => ReactNode;
}

const STEPS: readonly StepKind[] = [
  {
    id: 'verify',
    isDone: ({ isEmailVerified }) => isEmailVerified,
    action: () => (
      <LinkButton to="/verify" size="sm">
        {t.steps.verify.action}
      </LinkButton>
    ),
  },
  { id: 'key', isDone: ({ hasKey }) => hasKey, action: () => <CreateFirstKey /> },
  {
    id: 'balance',
    isDone: ({ isFunded }) => isFunded,
    action: () => (
      <LinkButton to="/billing" size="sm">
        {t.steps.balance.action}
      </LinkButton>
    ),
  },
  { id: 'request', isDone: ({ isAnswered }) => isAnswered },
];

function isComplete(progress: Progress): boolean {
  return countDone(progress) === STEPS.length;
}

function countDone(progress: Progress): number {
  return STEPS.filter((step) => step.isDone(progress)).length;
}

function Step({ step, isDone }: { readonly step: StepKind; readonly isDone: boolean | undefined }): JSX.Element {
  const { title, text } = t.steps[step.id];
  const { data: setup } = useQuery(setupQuery);
  const isPrinted = step.id === 'verify' && setup?.hasMail === false;
  return (
    <StepItem title={title} isDone={isDone}>
      {isDone === false && (
        <>
          <p className="mb-2 text-sm text-muted">{isPrinted ? t.steps.verify.printed : text}</p>
          {step.action?.()}
        </>
      )}
    </StepItem>
  );
}

/** Creates the first key at once. Its secret is kept in memory and shown in the examples. */
function CreateFirstKey(): JSX.Element {
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => call(api.account['first-key'].$post()),
    onSuccess: async (key) => {
      setFreshKey(key);
      await queryClient.invalidateQueries({ queryKey: startQuery.queryKey });
    },
    onError: async (error) => {
      // The account already has a key. Further keys are created on the keys page.
      if (error instanceof ApiError && error.code === 'conflict') await navigate({ to: '/keys' });
      else toast('bad', error.message);
    },
  });
  return (
    <Button size="sm" variant="primary" isBusy={create.isPending} onClick={() => create.mutate()}>
      {t.steps.key.action}
    </Button>
  );
}
