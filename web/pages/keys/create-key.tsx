import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { ApiError, api, call } from '../../api.ts';
import { keyForm as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { useZone } from '../../zone.ts';
import type { NewSecret } from './fresh-secret.tsx';
import { changesOf, EMPTY_DRAFT } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { refreshKeys } from './queries.ts';

const FORM_ID = 'create-key';

interface CreateKeyProps {
  readonly onClose: () => void;
  readonly onCreated: (fresh: NewSecret) => void;
}

/** Dialog to create a key. */
export function CreateKey({ onClose, onCreated }: CreateKeyProps): JSX.Element {
  const zone = useZone();
  const [draft, setDraft] = useState({ ...EMPTY_DRAFT, limitZone: zone });
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call(api.keys.$post({ json: { ...changesOf(draft, EMPTY_DRAFT, zone), name: draft.name.trim() } })),
    onSuccess: async (fresh) => {
      onCreated(fresh);
      await refreshKeys();
    },
  });
  const actions = (
    <>
      <Button variant="quiet" disabled={isPending} onClick={onClose}>
        {t.cancel}
      </Button>
      <Button variant="primary" type="submit" form={FORM_ID} isBusy={isPending}>
        {t.submit}
      </Button>
    </>
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={isPending}
      isModal
      isInUrl
      width="lg"
      title={t.title}
      text={t.text}
      actions={actions}
      error={error?.message}
    >
      <form
        id={FORM_ID}
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <KeyForm draft={draft} onDraft={setDraft} refusal={refusalOf(error)} />
      </form>
    </Dialog>
  );
}

/** Returns the field and message of a server error. */
export function refusalOf(error: Error | null): { readonly field: string | undefined; readonly message: string } | undefined {
  return error instanceof ApiError ? { field: error.field, message: error.fieldMessage } : undefined;
}
