import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminCodes as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { toast } from '../../../ui/toast.tsx';
import { refreshCodes } from './queries.ts';

interface StopButtonProps {
  readonly which: { readonly id: string } | { readonly campaign: string };
  readonly label: string;
  readonly title: string;
}

/** Stops a code or a campaign, after asking once more. */
export function StopButton({ which, label, title }: StopButtonProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      call('id' in which ? api.admin.codes[':id'].stop.$post({ param: which }) : api.admin.codes.stop.$post({ json: which })),
    onSuccess: async ({ stopped }) => {
      setAsking(false);
      toast('good', t.stopped(stopped));
      await refreshCodes();
    },
  });
  return (
    <>
      <Button size="sm" variant="danger" onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={title}
        text={t.stopText}
        action={label}
        isBusy={isPending}
        error={error?.message}
        onConfirm={() => mutate()}
      />
    </>
  );
}
