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
  const change = async (): Promise<string> => {
    const { isDisabled } = await switchProvider(id, disabled === null ? 'disable' : 'enable');
    await queryClient.invalidateQueries({ queryKey: ['admin'] });
    return isDisabled ? t.isOff(id) : t.isOn(id);
  };
  const enable = useMutation({ mutationFn: change, onSuccess: (message) => toast('good', message) });
  const stopping = [...new Set(models.filter(({ isOnlyHere }) => isOnlyHere).map((model) => model.id))];
  if (disabled !== null)
    return (
      <>
        <p className="mb-3 text-sm wrap-anywhere">
          {t.disabledBy(disabled.disabledBy)} <DateTime atMs={disabled.disabledAtMs} />
        </p>
        <Button variant="primary" isBusy={enable.isPending} onClick={() => enable.mutate()}>
          {t.enable}
        </Button>
        {enable.error !== null && (
          <p role="alert" className="mt-2 text-sm text-bad">
            {enable.error.message}
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
        text={t.effect(stopping.length)}
        action={t.disable}
        onConfirm={change}
      >
        {stopping.length > 0 && (
          <ul
            tabIndex={0}
            aria-label={t.stopping}
            className="max-h-48 overflow-y-auto font-mono text-[0.8125rem] focus-visible:-outline-offset-2"
          >
            {stopping.map((model) => (
              <li key={model} className="wrap-anywhere">
                {model}
              </li>
            ))}
          </ul>
        )}
      </ConfirmDialog>
    </>
  );
}
