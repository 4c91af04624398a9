import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { formatUsd } from '../../../money.ts';
import { formatCount } from '../../../numbers.ts';
import { adminCodes, kit } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { fieldError } from '../../../ui/form.tsx';
import { useZone } from '../../../zone.ts';
import { EMPTY_DRAFT, makeOrderId, orderOf } from './code-draft.ts';
import { CodeForm } from './code-form.tsx';
import type { FreshCode } from './fresh-codes.tsx';
import { refreshCodes, type CodesContent } from './queries.ts';

const t = adminCodes.form;
const FORM_ID = 'create-codes';

interface CreateCodesProps {
  readonly plans: CodesContent['plans'];
  readonly onClose: () => void;
  readonly onCreated: (codes: readonly FreshCode[]) => void;
}

/** Form for new codes, followed by a confirmation of how much they can give away. */
export function CreateCodes({ plans, onClose, onCreated }: CreateCodesProps): JSX.Element {
  const zone = useZone();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  // One id per open form, so that a retry after an unclear failure does not create the codes twice.
  const [orderId] = useState(makeOrderId);
  const order = orderOf(draft, zone);
  const check = useMutation({ mutationFn: () => call(api.admin.codes.check.$post({ json: order })) });
  const create = async (): Promise<undefined> => {
    const { codes } = await call(api.admin.codes.$post({ json: { orderId, order } }));
    onCreated(codes);
    await refreshCodes();
  };
  if (check.data !== undefined)
    return (
      <ConfirmDialog
        isOpen
        onClose={() => check.reset()}
        title={t.confirm(formatCount(check.data.codes))}
        text={t.most(formatUsd(check.data.mostUsd))}
        action={t.go}
        onConfirm={create}
      />
    );
  const actions = (
    <>
      <Button variant="quiet" onClick={onClose}>
        {kit.cancel}
      </Button>
      <Button variant="primary" type="submit" form={FORM_ID} isBusy={check.isPending}>
        {t.next}
      </Button>
    </>
  );
  return (
    <Dialog isOpen isModal isInUrl onClose={onClose} width="lg" title={t.title} actions={actions} error={check.error?.message}>
      <form
        id={FORM_ID}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          check.mutate();
        }}
      >
        <CodeForm draft={draft} onDraft={setDraft} plans={plans} errorFor={(field) => fieldError(check.error, field)} />
      </form>
    </Dialog>
  );
}
