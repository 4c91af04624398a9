import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { key as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import type { NewSecret } from '../keys/fresh-secret.tsx';
import { refreshKeys } from '../keys/queries.ts';
import type { KeyPageContent } from '../keys/queries.ts';
import { RotateKey } from './rotate-key.tsx';

interface KeyActionsProps {
  readonly content: KeyPageContent;
  readonly onRotated: (fresh: NewSecret) => void;
}

/** Actions on the key: disable, rotate, delete. */
export function KeyActions({ content, onRotated }: KeyActionsProps): JSX.Element {
  const [isRotating, setRotating] = useState(false);
  return (
    <>
      <DisableSwitch content={content} />
      {!content.key.isPlayground && (
        <Button isChange onClick={() => setRotating(true)}>
          {t.rotate}
        </Button>
      )}
      <DeleteKey content={content} />
      {isRotating && (
        <RotateKey
          id={content.key.id}
          onClose={() => setRotating(false)}
          onRotated={(fresh) => {
            setRotating(false);
            onRotated(fresh);
          }}
        />
      )}
    </>
  );
}

function DisableSwitch({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  const isDisabled = key.disabledAtMs !== null;
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.keys[':id'].$patch({ param: { id: key.id }, query: {}, json: { isDisabled: !isDisabled } })),
    onSuccess: async () => {
      toast('good', isDisabled ? t.enabled : t.disabled);
      await refreshKeys();
    },
    onError: (error) => toast('bad', error.message),
  });
  return (
    <Button isChange isBusy={isPending} onClick={() => mutate()}>
      {isDisabled ? t.enable : t.disable}
    </Button>
  );
}

function DeleteKey({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  const navigate = useNavigate();
  const remove = async (): Promise<string> => {
    await call(api.keys[':id'].$delete({ param: { id: key.id }, json: { name: key.name } }));
    await navigate({ to: '/keys' });
    await queryClient.invalidateQueries({ queryKey: ['keys'] });
    return t.deletion.done;
  };
  return (
    <>
      <Button variant="danger" onClick={() => setConfirming(true)}>
        {t.delete}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t.deletion.title}
        text={t.deletion.text(key.requestsLastDay)}
        action={t.deletion.action}
        name={key.name}
        onConfirm={remove}
      />
    </>
  );
}
