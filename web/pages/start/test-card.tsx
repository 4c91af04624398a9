import type { JSX } from 'react';
import { playgroundSecret } from '../../playground-key.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { start as t } from '../../strings/index.ts';
import { TestCallCard } from '../../ui/test-call-card.tsx';
import { startQuery } from './steps.tsx';

interface TestCardProps {
  readonly model: ListedModel | undefined;
  readonly secret: string | undefined;
}

/** A test call with the key that was just made, or with one that only this page has. */
export function TestCard({ model, secret }: TestCardProps): JSX.Element {
  return (
    <TestCallCard
      hint={model === undefined ? t.test.none : t.test.text(model.id)}
      isReady={model !== undefined}
      prepare={async () => ({ secret: secret ?? (await playgroundSecret()), model: model?.id ?? '' })}
      onDone={() => Promise.all([startQuery, accountQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })))}
    />
  );
}
