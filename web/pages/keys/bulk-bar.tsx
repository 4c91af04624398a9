import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { keys as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { refreshKeys } from './queries.ts';
import type { Key } from './queries.ts';

interface BulkBarProps {
  readonly keys: readonly Key[];
  readonly onDone: () => void;
}

/** Actions on several keys at once. */
export function BulkBar({ keys, onDone }: BulkBarProps): JSX.Element {
  const ids = keys.map(({ id }) => id);
  const [isConfirming, setConfirming] = useState(false);
  const change = async (action: 'disable' | 'enable' | 'delete'): Promise<string> => {
    const { changed } = await call(api.keys.bulk.$post({ json: { action, ids } }));
    onDone();
    await refreshKeys();
    return t.bulkDone(changed);
  };
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: change,
    onSuccess: (message) => toast('good', message),
  });
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 text-sm sm:px-5">
      <span role="status" className="mr-2 font-medium">
        {t.chosen(ids.length)}
      </span>
      {(['disable', 'enable'] as const).map((action) => (
        <Button key={action} size="sm" isChange isBusy={isPending && variables === action} onClick={() => mutate(action)}>
          {t.bulk[action]}
        </Button>
      ))}
      <Button size="sm" variant="danger" onClick={() => setConfirming(true)}>
        {t.bulk.delete}
      </Button>
      <Button size="sm" variant="quiet" onClick={onDone}>
        {t.bulk.clearSelection}
      </Button>
      {error !== null && (
        <span role="alert" className="text-bad">
          {error.message}
        </span>
      )}
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t.bulkDelete.title(ids.length)}
        text={t.bulkDelete.text(keys.reduce((sum, { requestsLastDay }) => sum + requestsLastDay, 0))}
        action={t.bulkDelete.action}
        name={t.bulkDelete.name(ids.length)}
        onConfirm={() => change('delete')}
      />
    </div>
  );
}
