import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { formatUsdExact } from '../../../money.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { fieldError, Form } from '../../../ui/form.tsx';
import { MoneyInput } from '../../../ui/money-input.tsx';
import { TextInput } from '../../../ui/text-input.tsx';
import { toast } from '../../../ui/toast.tsx';
import { refreshPayments, type Payment } from './queries.ts';

const MAY_STILL_ARRIVE: ReadonlySet<Payment['status']> = new Set(['created', 'open', 'unknown']);

/** Confirms that the money of a bank transfer has arrived, or rejects the transfer. */
export function TransferActions({ payment }: { readonly payment: Payment }): JSX.Element {
  const [open, setOpen] = useState<'confirm' | 'refuse'>();
  const close = (): void => setOpen(undefined);
  return (
    <div className="flex flex-wrap gap-2">
      <Button variant="primary" onClick={() => setOpen('confirm')}>
        {t.detail.confirm}
      </Button>
      {MAY_STILL_ARRIVE.has(payment.status) && <Button onClick={() => setOpen('refuse')}>{t.detail.refuse}</Button>}
      {open === 'confirm' && <Confirm payment={payment} onClose={close} />}
      {open === 'refuse' && <Refuse id={payment.id} onClose={close} />}
    </div>
  );
}

/** Two steps: enter what the bank statement says, then confirm crediting it to this account. */
function Confirm({ payment: { id, email }, onClose }: { readonly payment: Payment; readonly onClose: () => void }): JSX.Element {
  const [reference, setReference] = useState('');
  const [amountUsd, setAmount] = useState('');
  const [isConfirming, setConfirming] = useState(false);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call(api.admin.payments[':id'].confirm.$post({ param: { id }, json: { reference, amountUsd } })),
    onSuccess: async ({ result }) => {
      toast('good', t.detail.confirmed[result]);
      onClose();
      await refreshPayments();
    },
    // Back to the form, where the input may be wrong.
    onError: () => setConfirming(false),
  });
  if (isConfirming)
    return (
      <Dialog
        isOpen
        onClose={onClose}
        isBusy={isPending}
        title={t.detail.sure(formatUsdExact(amountUsd), email)}
        text={reference}
        actions={
          <>
            <Button variant="quiet" disabled={isPending} onClick={() => setConfirming(false)}>
              {t.detail.change}
            </Button>
            <Button variant="primary" isBusy={isPending} onClick={() => mutate()}>
              {t.detail.credit}
            </Button>
          </>
        }
      />
    );
  return (
    <Dialog isOpen onClose={onClose} title={t.detail.confirm} text={t.detail.confirmText}>
      <Form
        action={t.detail.check}
        isBusy={false}
        isDisabled={reference.trim() === '' || amountUsd === ''}
        error={error}
        fields={['reference', 'amountUsd']}
        onCancel={onClose}
        onSubmit={() => setConfirming(true)}
      >
        <Field label={t.detail.usd} error={fieldError(error, 'amountUsd')}>
          {(wiring) => <MoneyInput {...wiring} value={amountUsd} onText={setAmount} />}
        </Field>
        <Field label={t.reference} error={fieldError(error, 'reference')}>
          {(wiring) => <TextInput {...wiring} value={reference} onText={setReference} autoComplete="off" spellCheck={false} />}
        </Field>
      </Form>
    </Dialog>
  );
}

function Refuse({ id, onClose }: { readonly id: string; readonly onClose: () => void }): JSX.Element {
  const [reason, setReason] = useState('');
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call(api.admin.payments[':id'].refuse.$post({ param: { id }, json: { reason } })),
    onSuccess: async () => {
      toast('good', t.detail.refused);
      onClose();
      await refreshPayments();
    },
  });
  return (
    <Dialog isOpen onClose={onClose} isBusy={isPending} title={t.detail.refuseTitle}>
      <Form
        action={t.detail.refuse}
        isBusy={isPending}
        isDisabled={reason.trim() === ''}
        error={error}
        onCancel={onClose}
        onSubmit={() => mutate()}
      >
        <Field label={t.detail.reason}>{(wiring) => <TextInput {...wiring} value={reason} onText={setReason} maxLength={200} />}</Field>
      </Form>
    </Dialog>
  );
}
