import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { KEY_VARIABLE } from '../../curl.ts';
import type { ListedModel } from '../../queries.ts';
import { snippetsFor } from '../../snippets.ts';
import { start as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Select } from '../../ui/select.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { cheapest } from './cheapest.ts';
import { startQuery } from './steps.tsx';

const route = getRouteApi('/app/start');

interface CallCardProps {
  readonly models: readonly ListedModel[] | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly secret: string | undefined;
}

/** Code that works as is: it has the URL and a model of this gate, and the secret while it is in memory. */
export function CallCard({ models, error, onRetry, secret }: CallCardProps): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: progress } = useQuery(startQuery);
  if (models === undefined)
    return (
      <Card title={t.code.title}>
        <LoadingOrError error={error} onRetry={onRetry} className="h-40" />
      </Card>
    );
  // The cheapest model also works without any balance.
  const model = models.find(({ id }) => id === search.model) ?? cheapest(models);
  const actions = (
    <>
      {secret === undefined && progress?.hasKey === true && (
        <LinkButton to="/keys" search={{ create: 'open' }}>
          {t.steps.key.action}
        </LinkButton>
      )}
      <Select
        aria-label={t.code.model}
        value={model?.id ?? ''}
        choices={models.map(({ id }) => ({ value: id, label: id }))}
        onChoose={(id) => void navigate({ search: (old) => ({ ...old, model: id }), replace: true, resetScroll: false })}
        className="max-w-full"
      />
    </>
  );
  return (
    <Card title={t.code.title} hint={secret === undefined ? t.code.variable(KEY_VARIABLE) : t.code.filled} actions={actions}>
      <CodeBlock
        snippets={snippetsFor({ model: model?.id ?? '', prompt: t.prompt, secret })}
        chosenId={search.snippet}
        onChoose={(snippet) => void navigate({ search: (old) => ({ ...old, snippet }), replace: true, resetScroll: false })}
      />
    </Card>
  );
}
