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
const FORM_ID = 'make-codes';

interface MakeCodesProps {
  readonly plans: CodesContent['plans'];
  readonly onClose: () => void;
  readonly onMade: (codes: readonly FreshCode[]) => void;
}

/** The form for new codes, and the question whether that much may be given away. */
export function MakeCodes({ plans, onClose, onMade }: MakeCodesProps): JSX.Element {
  const zone = useZone();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  // Kept for as long as the form is open: whoever cannot tell whether it worked and tries again makes nothing twice.
  const [orderId] = useState(makeOrderId);
  const order = orderOf(draft, zone);
  const check = useMutation({ mutationFn: () => call(api.admin.codes.check.$post({ json: order })) });
  const make = useMutation({
    mutationFn: () => call(api.admin.codes.$post({ json: { orderId, order } })),
    onSuccess: async ({ codes }) => {
      onMade(codes);
      await refreshCodes();
    },
  });
  const back = (): void => {
    if (make.isPending) return;
    check.reset();
    make.reset();
  };
  if (check.data !== undefined)
    return (
      <ConfirmDialog
        isOpen
        onClose={back}
        title={t.confirm(formatCount(check.data.codes))}
        text={t.most(formatUsd(check.data.mostUsd))}
        action={t.go}
        isBusy={make.isPending}
        error={make.error?.message}
        onConfirm={() => make.mutate()}
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
    <Dialog isOpen isModal onClose={onClose} width="lg" title={t.title} actions={actions} error={check.error?.message}>
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
