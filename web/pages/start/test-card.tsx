import type { JSX } from 'react';
import { playgroundSecret } from '../../playground-key.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { start as t } from '../../strings/index.ts';
import { TestCallCard } from '../../ui/test-call-card.tsx';
import { cheapest } from './cheapest.ts';
import { startQuery } from './steps.tsx';

interface TestCardProps {
  /** Undefined while loading. */
  readonly models: readonly ListedModel[] | undefined;
  readonly secret: string | undefined;
}

/** A test call with the new key, or with the dashboard's own key. */
export function TestCard({ models, secret }: TestCardProps): JSX.Element {
  const model = cheapest(models ?? []);
  return (
    <TestCallCard
      hint={model === undefined ? models && t.test.none : t.test.text(model.id)}
      isReady={model !== undefined}
      prepare={async () => ({ secret: secret ?? (await playgroundSecret()), model: model?.id ?? '' })}
      onDone={() => Promise.all([startQuery, accountQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })))}
    />
  );
}
