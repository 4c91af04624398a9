import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { ApiError, api, call } from '../../api.ts';
import { alerts as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { NumberInput } from '../../ui/number-input.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { toast } from '../../ui/toast.tsx';
import { useZone } from '../../zone.ts';
import { refreshAlerts } from './queries.ts';
import type { AlertsContent, Rule } from './queries.ts';

type Kind = Rule['kind'];
type Unit = Rule['unit'];

const UNITS: Readonly<Record<Kind, Unit>> = {
  low_balance: 'usd',
  spend_day: 'usd',
  spend_month: 'usd',
  key_limit: 'percent',
  error_rate: 'percent',
  key_expiring: 'days',
  sign_in: 'none',
};
const KINDS = Object.keys(UNITS) as Kind[];
const DEFAULTS: Readonly<Record<Kind, string>> = {
  low_balance: '5',
  spend_day: '10',
  spend_month: '100',
  key_limit: '80',
  error_rate: '10',
  key_expiring: '7',
  sign_in: '',
};
/** Same as on the server. */
const RANGES = { percent: [1, 100], days: [1, 90] } as const;
const FORM_ID = 'alert-form';

interface RuleFormProps {
  readonly content: AlertsContent;
  /** Undefined for a new alert. */
  readonly rule: Rule | undefined;
  readonly onClose: () => void;
}

/** An alert as edited in the form. */
interface Draft {
  readonly kind: Kind;
  readonly threshold: string;
  readonly byMail: boolean;
  readonly byWebhook: boolean;
}

/** Dialog to create or edit an alert. */
export function RuleForm({ content, rule, onClose }: RuleFormProps): JSX.Element {
  const fresh: Draft = { kind: 'low_balance', threshold: DEFAULTS.low_balance, byMail: content.mail.isVerified, byWebhook: false };
  const [draft, setDraft] = useState<Draft>(rule ?? fresh);
  const zone = useZone();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => save(rule, draft, zone),
    onSuccess: async () => {
      toast('good', t.form.saved);
      onClose();
      await refreshAlerts();
    },
  });
  const actions = (
    <>
      <Button variant="quiet" disabled={isPending} onClick={onClose}>
        {t.form.cancel}
      </Button>
      <Button variant="primary" type="submit" form={FORM_ID} isBusy={isPending}>
        {t.form.save}
      </Button>
    </>
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={isPending}
      isInUrl
      width="lg"
      title={rule === undefined ? t.form.title : t.form.editTitle}
      actions={actions}
      error={error?.message}
    >
      <form
        id={FORM_ID}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        {rule === undefined && (
          <RadioCards
            legend={t.form.kind}
            value={draft.kind}
            cards={KINDS.map((value) => ({ value, label: t.kinds[value], hint: t.kindHints[value] }))}
            onChoose={(kind) => setDraft({ ...draft, kind, threshold: DEFAULTS[kind] })}
          />
        )}
        <Threshold
          kind={draft.kind}
          value={draft.threshold}
          onText={(threshold) => setDraft({ ...draft, threshold })}
          error={error instanceof ApiError && error.field === 'threshold' ? error.fieldMessage : undefined}
        />
        <ChannelBoxes content={content} draft={draft} onDraft={setDraft} />
      </form>
    </Dialog>
  );
}

function save(rule: Rule | undefined, { kind, threshold, byMail, byWebhook }: Draft, zone: string): Promise<unknown> {
  const form = { threshold, byMail, byWebhook };
  if (rule === undefined) return call(api.alerts.rules.$post({ json: { kind, zone, ...form } }));
  return call(api.alerts.rules[':id'].$patch({ param: { id: rule.id }, json: form }));
}

interface ChannelBoxesProps {
  readonly content: AlertsContent;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

function ChannelBoxes({ content: { mail, webhook }, draft, onDraft }: ChannelBoxesProps): JSX.Element {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 text-sm font-medium">{t.form.by}</legend>
      <Checkbox
        label={t.form.byMail(mail.to)}
        hint={mail.isVerified ? undefined : t.form.unverified}
        disabled={!mail.isVerified}
        isChecked={draft.byMail}
        onCheck={(byMail) => onDraft({ ...draft, byMail })}
      />
      <Checkbox
        label={t.form.byWebhook}
        hint={webhook?.url ?? t.form.noWebhook}
        disabled={webhook === null}
        isChecked={draft.byWebhook}
        onCheck={(byWebhook) => onDraft({ ...draft, byWebhook })}
      />
    </fieldset>
  );
}

interface ThresholdProps {
  readonly kind: Kind;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly error: string | undefined;
}

function Threshold({ kind, value, onText, error }: ThresholdProps): JSX.Element | null {
  const unit = UNITS[kind];
  switch (unit) {
    case 'usd':
      return (
        <Field label={t.form.amount} error={error} className="sm:w-48">
          {(wiring) => <MoneyInput {...wiring} value={value} onText={onText} />}
        </Field>
      );
    case 'percent':
    case 'days':
      return (
        <Field label={t.form[unit]} hint={kind === 'key_limit' ? t.form.keyLimitHint : undefined} error={error} className="sm:w-80">
          {(wiring) => <NumberInput {...wiring} range={RANGES[unit]} value={value} onText={onText} />}
        </Field>
      );
    case 'none':
      return null;
  }
}
