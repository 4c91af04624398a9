import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import { key as t } from '../../strings/index.ts';
import { TestCallCard } from '../../ui/test-call-card.tsx';
import { refreshKeys } from '../keys/queries.ts';

/** A test call with this key. Its rules and limits apply, as for any client. */
export function TestCard({ id }: { readonly id: string }): JSX.Element {
  return (
    <TestCallCard
      className="lg:col-span-2"
      hint={t.test}
      isReady
      prepare={() => call(api.keys[':id'].trial.$post({ param: { id } }))}
      onDone={() => Promise.all([refreshKeys(), queryClient.invalidateQueries(accountQuery)])}
    />
  );
}
