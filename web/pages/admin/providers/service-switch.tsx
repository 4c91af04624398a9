import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { queryClient } from '../../../queries.ts';
import { adminProviders } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { toast } from '../../../ui/toast.tsx';
import { switchProvider, type ShownProvider } from './queries.ts';

const t = adminProviders.service;

/** Disables a provider after confirmation, or enables it. */
export function ServiceSwitch({ provider: { id, disabled, models } }: { readonly provider: ShownProvider }): JSX.Element {
  const [isConfirming, setIsConfirming] = useState(false);
  const change = useMutation({
    mutationFn: () => switchProvider(id, disabled === null ? 'disable' : 'enable'),
    onSuccess: async ({ isDisabled }) => {
      setIsConfirming(false);
      toast('good', isDisabled ? t.isOff(id) : t.isOn(id));
      await queryClient.invalidateQueries({ queryKey: ['admin'] });
    },
  });
  const onlyHereCount = new Set(models.filter(({ isOnlyHere }) => isOnlyHere).map((model) => model.id)).size;
  if (disabled !== null)
    return (
      <>
        <p className="mb-3 text-sm wrap-anywhere">
          {t.disabledBy(disabled.disabledBy)} <DateTime atMs={disabled.disabledAtMs} />
        </p>
        <Button variant="primary" isBusy={change.isPending} onClick={() => change.mutate()}>
          {t.enable}
        </Button>
        {change.error !== null && (
          <p role="alert" className="mt-2 text-sm text-bad">
            {change.error.message}
          </p>
        )}
      </>
    );
  return (
    <>
      <Button variant="danger" onClick={() => setIsConfirming(true)}>
        {t.disable}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setIsConfirming(false)}
        title={t.question(id)}
        text={t.effect(onlyHereCount)}
        action={t.disable}
        isBusy={change.isPending}
        error={change.error?.message}
        onConfirm={() => change.mutate()}
      />
    </>
  );
}
