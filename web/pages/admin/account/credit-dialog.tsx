import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { api, call } from '../../../api.ts';
import { formatUsdExact, signOf, sumUsd } from '../../../money.ts';
import { queryClient } from '../../../queries.ts';
import { adminAccount } from '../../../strings/index.ts';
import { addDays, dayOf, dayStartMs } from '../../../time.ts';
import { Button } from '../../../ui/button.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { MoneyInput } from '../../../ui/money-input.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { TextInput } from '../../../ui/text-input.tsx';
import { toast } from '../../../ui/toast.tsx';
import { useZone } from '../../../zone.ts';
import type { AccountContent } from './queries.ts';

const t = adminAccount.credit;
const NAME_BYTES = 16;

interface Draft {
  readonly way: 'give' | 'take';
  readonly amount: string;
  readonly reason: string;
  /** Last day on which the credit can be spent; empty if it does not expire. */
  readonly lastDay: string;
}

/** The order to confirm. It keeps its name while unchanged, so that sending it twice carries it out once. */
interface Order {
  readonly usd: string;
  readonly reason: string;
  readonly expiresAtMs?: number;
  readonly name: string;
}

interface CreditDialogProps {
  readonly content: AccountContent;
  readonly onClose: () => void;
}

/** Manual credit or debit in two steps: form and confirmation. */
export function CreditDialog({ content, onClose }: CreditDialogProps): JSX.Element {
  const zone = useZone();
  const [draft, setDraft] = useState<Draft>({ way: 'give', amount: '', reason: '', lastDay: '' });
  const [name, setName] = useState(randomName);
  const [isConfirming, setConfirming] = useState(false);
  const change = (changed: Draft): void => {
    setDraft(changed);
    setName(randomName());
  };
  if (isConfirming)
    return <Confirm content={content} order={toOrder(draft, name, zone)} onBack={() => setConfirming(false)} onClose={onClose} />;
  return (
    <Dialog isOpen onClose={onClose} title={t.title(content.account.email)} text={t.text}>
      <CreditForm draft={draft} onDraft={change} onDone={() => setConfirming(true)} onCancel={onClose} />
    </Dialog>
  );
}

function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NAME_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toOrder({ way, amount, reason, lastDay }: Draft, name: string, zone: string): Order {
  return {
    usd: way === 'give' ? amount : `-${amount}`,
    reason: reason.trim(),
    ...(way === 'give' && lastDay !== '' ? { expiresAtMs: dayStartMs(addDays(lastDay, 1), zone) } : {}),
    name,
  };
}

interface CreditFormProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

function CreditForm({ draft, onDraft, onDone, onCancel }: CreditFormProps): JSX.Element {
  const zone = useZone();
  const isReady = /^\d+(?:\.\d{1,9})?$/u.test(draft.amount) && signOf(draft.amount) > 0 && draft.reason.trim() !== '';
  return (
    <Form action={t.review} isBusy={false} isDisabled={!isReady} onCancel={onCancel} onSubmit={onDone}>
      <Segmented
        label={t.way}
        value={draft.way}
        choices={[
          { value: 'give', label: t.ways.give },
          { value: 'take', label: t.ways.take },
        ]}
        onChoose={(way) => onDraft({ ...draft, way })}
        className="self-start"
      />
      <Field label={t.amount}>
        {(wiring) => <MoneyInput {...wiring} value={draft.amount} onText={(amount) => onDraft({ ...draft, amount })} />}
      </Field>
      <Field label={adminAccount.reason} hint={t.reasonHint}>
        {(wiring) => (
          <TextInput
            {...wiring}
            value={draft.reason}
            onText={(reason) => onDraft({ ...draft, reason })}
            autoComplete="off"
            maxLength={500}
          />
        )}
      </Field>
      {draft.way === 'give' && (
        <Field label={t.lastDay} hint={t.lastDayHint(zone)} isOptional>
          {(wiring) => (
            <TextInput
              {...wiring}
              type="date"
              min={dayOf(Date.now(), zone)}
              value={draft.lastDay}
              onText={(lastDay) => onDraft({ ...draft, lastDay })}
            />
          )}
        </Field>
      )}
    </Form>
  );
}

interface ConfirmProps extends CreditDialogProps {
  readonly order: Order;
  readonly onBack: () => void;
}

function Confirm({ content: { account, money }, order, onBack, onClose }: ConfirmProps): JSX.Element {
  const isCredit = signOf(order.usd) > 0;
  const shown = formatUsdExact(order.usd.replace('-', ''));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call(api.admin.accounts[':id'].credit.$post({ param: { id: account.id }, json: order })),
    onSuccess: () => {
      toast('good', isCredit ? t.given(shown) : t.taken(shown));
      onClose();
    },
    // Also after a failure, since the server may have carried it out.
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['admin'] }),
  });
  const after = sumUsd([money.balanceUsd, order.usd]);
  const actions = (
    <>
      <Button variant="quiet" onClick={onBack} disabled={isPending}>
        {t.back}
      </Button>
      <Button variant={isCredit ? 'primary' : 'danger'} isBusy={isPending} onClick={() => mutate()}>
        {isCredit ? t.give(shown) : t.take(shown)}
      </Button>
    </>
  );
  return (
    <Dialog isOpen onClose={onClose} isBusy={isPending} title={t.check} actions={actions} error={error?.message}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Term name={t.account}>{account.email}</Term>
        <Term name={isCredit ? t.ways.give : t.ways.take}>{shown}</Term>
        {order.expiresAtMs !== undefined && (
          <Term name={t.ends}>
            <DateTime atMs={order.expiresAtMs} />
          </Term>
        )}
        <Term name={adminAccount.reason}>{order.reason}</Term>
        <Term name={t.before}>{formatUsdExact(money.balanceUsd)}</Term>
        <Term name={t.after}>
          <span className={signOf(after) < 0 ? 'text-bad' : ''}>{formatUsdExact(after)}</span>
        </Term>
      </dl>
      <p className="mt-3 text-xs text-muted">{signOf(after) < 0 ? t.debt : t.meanwhile}</p>
    </Dialog>
  );
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }): JSX.Element {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="figures text-right font-medium wrap-anywhere">{children}</dd>
    </>
  );
}
