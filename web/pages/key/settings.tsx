import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { key as texts, keyForm as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { IsErrorRead } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { useZone } from '../../zone.ts';
import { refusalOf } from '../keys/create-key.tsx';
import { changesOf, draftOf } from '../keys/key-draft.ts';
import { KeyForm } from '../keys/key-form.tsx';
import { refreshKeys } from '../keys/queries.ts';
import type { KeyPageContent } from '../keys/queries.ts';

/** Form for every setting of the key. */
export function Settings({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  const zone = useZone();
  // Only fields that differ from the initial draft are sent, so that changes made elsewhere meanwhile are not overwritten.
  const [initial, setInitial] = useState(() => draftOf(key, zone));
  const [draft, setDraft] = useState(initial);
  const changes = changesOf(draft, initial, zone);
  const isChanged = Object.keys(changes).length > 0;
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call(api.keys[':id'].$patch({ param: { id: key.id }, query: {}, json: changes })),
    onSuccess: async (changed) => {
      const saved = draftOf(changed, zone);
      setInitial(saved);
      setDraft(saved);
      toast('good', t.saved);
      await refreshKeys();
    },
  });
  return (
    <Card title={texts.tabs.settings}>
      <form
        className="max-w-3xl"
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged) mutate();
        }}
      >
        <IsErrorRead value={error !== null}>
          <KeyForm draft={draft} onDraft={setDraft} refusal={refusalOf(error)} />
        </IsErrorRead>
        {error !== null && (
          <p role="alert" className="mt-4 text-sm font-medium text-bad">
            {error.message}
          </p>
        )}
        <div className="mt-6 flex flex-wrap items-center gap-3 border-t border-line pt-4">
          <Button variant="primary" type="submit" disabled={!isChanged} isBusy={isPending}>
            {t.save}
          </Button>
          {!isChanged && <span className="text-sm text-muted">{t.unchanged}</span>}
        </div>
      </form>
    </Card>
  );
}
