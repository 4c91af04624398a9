import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { addPasskey, canUsePasskeys, wasCancelled } from '../../auth.ts';
import { queryClient } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { passkeysQuery } from './queries.ts';

const t = settings.passkeys;

/** The user's passkeys, and a form to add one. */
export function PasskeysCard(): JSX.Element {
  const { data, error, refetch } = useQuery(passkeysQuery);
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim()),
    onSuccess: async () => {
      setName('');
      toast('good', t.added);
      await refresh();
    },
  });
  const remove = async (id: string): Promise<string> => {
    await call(api.settings.passkeys[':id'].$delete({ param: { id } }));
    await refresh();
    return t.removed;
  };
  return (
    <Card title={t.title} hint={t.hint}>
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton className="mb-4 h-8 w-full" />}
      {data?.passkeys.length === 0 && <p className="mb-4 text-sm text-muted">{t.none}</p>}
      <ul className="flex flex-col gap-2 not-empty:mb-4">
        {data?.passkeys.map((passkey) => (
          <li key={passkey.id} className="flex flex-wrap items-center justify-between gap-2 text-sm">
            <span className="min-w-0 break-words">
              {nameOf(passkey)}
              {passkey.createdAt !== null && (
                <span className="text-muted">
                  {' '}
                  {t.since} <DateTime atMs={Date.parse(passkey.createdAt)} />
                </span>
              )}
            </span>
            <ConfirmButton
              label={t.remove}
              fullLabel={t.removeOne(nameOf(passkey))}
              title={t.removeTitle(nameOf(passkey))}
              text={t.removeText}
              onConfirm={() => remove(passkey.id)}
            />
          </li>
        ))}
      </ul>
      {canUsePasskeys() ? (
        <Form action={t.add} isBusy={add.isPending} error={wasCancelled(add.error) ? undefined : add.error} onSubmit={() => add.mutate()}>
          <Field label={t.name} isOptional>
            {(wiring) => <TextInput {...wiring} placeholder={t.placeholder} value={name} onText={setName} />}
          </Field>
        </Form>
      ) : (
        <p className="text-sm text-muted">{t.unsupported}</p>
      )}
    </Card>
  );
}

function nameOf({ name }: { readonly name: string | null }): string {
  return name === null || name === '' ? t.unnamed : name;
}

function refresh(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey });
}
