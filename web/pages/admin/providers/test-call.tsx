import { useMutation } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { formatMs } from '../../../numbers.ts';
import { adminProviders } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { plainChoices } from '../../../ui/filter-select.tsx';
import { Select } from '../../../ui/select.tsx';
import { testProvider, type ShownProvider, type Trial } from './queries.ts';

const t = adminProviders.test;

/** Calls a model of a provider once with the server's own credential, and shows the result. */
export function TestCall({ provider }: { readonly provider: ShownProvider }): JSX.Element {
  const models = [...new Set(provider.models.map(({ id }) => id))];
  const [model, setModel] = useState(models[0] ?? '');
  const test = useMutation({ mutationFn: () => testProvider(provider.id, model) });
  if (models.length === 0) return <p className="text-sm text-muted">{t.none}</p>;
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Select aria-label={t.model} value={model} choices={plainChoices(models)} onChoose={setModel} className="max-w-full" />
        <Button variant="primary" isBusy={test.isPending} onClick={() => test.mutate()}>
          <Send aria-hidden="true" />
          {t.action}
        </Button>
      </div>
      <div aria-live="polite" className="mt-3 text-sm">
        {test.error !== null && <p className="font-medium text-bad">{test.error.message}</p>}
        {test.error === null && test.data !== undefined && <Outcome trial={test.data} />}
      </div>
    </>
  );
}

function Outcome({ trial }: { readonly trial: Trial }): JSX.Element {
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={trial.isFine ? 'good' : 'bad'}>{trial.isFine ? t.good : t.bad}</Badge>
        {t.took(formatMs(trial.durationMs))}
        {trial.inputTokens !== null && <span className="text-muted">{t.tokens(trial.inputTokens, trial.outputTokens ?? 0)}</span>}
      </p>
      {trial.answer !== null && <p className="mt-2 wrap-anywhere">{trial.answer}</p>}
      {trial.message !== '' && <p className="mt-2 wrap-anywhere text-muted">{trial.message}</p>}
    </>
  );
}
