import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { compact } from '../../../search-params.ts';
import { adminPlans, kit } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { labelled } from '../../../ui/filter-select.tsx';
import { fieldError } from '../../../ui/form.tsx';
import { InputLine } from '../../../ui/input-line.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { toast } from '../../../ui/toast.tsx';
import { ModelPicker } from '../../keys/model-picker.tsx';
import { refreshAdminPlans, type AdminPlan } from './queries.ts';

const t = adminPlans.form;
const d = adminPlans.drawer;
const FORM_ID = 'plan-form';

interface PlanFormProps {
  /** Undefined for a new plan. */
  readonly plan: AdminPlan | undefined;
  readonly onClose: () => void;
}

/** Dialog to create or edit a plan. A plan that has ended is created again. */
export function PlanForm({ plan, onClose }: PlanFormProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(plan));
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => save(plan, draft),
    onSuccess: async () => {
      toast('good', t.saved);
      onClose();
      await refreshAdminPlans();
    },
  });
  const actions = (
    <>
      <Button variant="quiet" disabled={isPending} onClick={onClose}>
        {kit.cancel}
      </Button>
      <Button variant="primary" type="submit" form={FORM_ID} isBusy={isPending}>
        {t.save}
      </Button>
    </>
  );
  const title = plan === undefined ? t.title : t.changeTitle(plan.name);
  return (
    <Dialog
      isOpen
      isModal
      isInUrl
      onClose={onClose}
      isBusy={isPending}
      width="lg"
      title={title}
      text={t.text}
      actions={actions}
      error={error?.message}
    >
      <form
        id={FORM_ID}
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Fields draft={draft} onDraft={setDraft} isIdFixed={plan !== undefined} errorFor={(field) => fieldError(error, field)} />
        <Choices draft={draft} onDraft={setDraft} />
      </form>
    </Dialog>
  );
}

/** Returns the draft of a plan, under the field names of tollgate.yaml. */
function draftOf(plan: AdminPlan | undefined) {
  return {
    id: plan?.id ?? '',
    name: plan?.name ?? '',
    price_usd: plan?.priceUsd ?? '',
    included_usd: plan?.includedUsd ?? '',
    requests_per_minute: text(plan?.requestsPerMinute),
    tokens_per_minute: text(plan?.tokensPerMinute),
    concurrent: text(plan?.concurrent),
    interval: plan?.interval ?? ('month' as const),
    models: plan?.models ?? undefined,
    offered: plan?.isOffered ?? true,
    use_first: plan?.useFirst ?? ('plan' as const),
    overflow: plan?.overflow ?? ('balance' as const),
  };
}

function text(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

type Draft = ReturnType<typeof draftOf>;

function save(plan: AdminPlan | undefined, draft: Draft): Promise<unknown> {
  const json = compact({
    ...draft,
    requests_per_minute: number(draft.requests_per_minute),
    tokens_per_minute: number(draft.tokens_per_minute),
    concurrent: number(draft.concurrent),
  });
  if (plan === undefined || plan.isEnded) return call(api.admin.plans.$post({ json }));
  return call(api.admin.plans[':id'].$put({ param: { id: plan.id }, json }));
}

function number(typed: string): number | undefined {
  return typed === '' ? undefined : Number(typed);
}

interface DraftProps {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

const FIELDS = [
  ['id', 'text'],
  ['name', 'text'],
  ['price_usd', 'usd'],
  ['included_usd', 'usd'],
  ['requests_per_minute', 'count'],
  ['tokens_per_minute', 'count'],
  ['concurrent', 'count'],
] as const;

function Fields({
  draft,
  onDraft,
  isIdFixed,
  errorFor,
}: DraftProps & { readonly isIdFixed: boolean; readonly errorFor: (field: string) => string | undefined }): JSX.Element {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {FIELDS.map(([name, as]) => (
        <InputLine
          key={name}
          label={t.fields[name]}
          as={as}
          value={draft[name]}
          onText={(typed) => onDraft({ ...draft, [name]: typed })}
          hint={name === 'id' && !isIdFixed ? t.idHint : undefined}
          error={errorFor(name)}
          isOptional={as === 'count'}
          isDisabled={name === 'id' && isIdFixed}
        />
      ))}
    </div>
  );
}

const CHOICES = [
  ['interval', ['month', 'year'], t.interval, t.intervals],
  ['use_first', ['plan', 'balance'], d.useFirst, d.useFirsts],
  ['overflow', ['balance', 'stop'], d.overflow, d.overflows],
] as const;

function Choices({ draft, onDraft }: DraftProps): JSX.Element {
  const { models } = draft;
  return (
    <>
      {CHOICES.map(([name, values, legend, labels]) => (
        <RadioCards<string>
          key={name}
          legend={legend}
          value={draft[name]}
          cards={labelled<string>(values, labels)}
          onChoose={(value) => onDraft({ ...draft, [name]: value })}
        />
      ))}
      <RadioCards
        legend={t.models}
        value={models === undefined ? 'all' : 'some'}
        cards={labelled(['all', 'some'] as const, t.modelChoices)}
        onChoose={(choice) => onDraft({ ...draft, models: choice === 'all' ? undefined : (models ?? []) })}
      />
      {models !== undefined && (
        <ModelPicker legend={t.models} chosen={models} onChoose={(chosen) => onDraft({ ...draft, models: [...chosen] })} />
      )}
      <Checkbox label={t.offered} hint={t.offeredHint} isChecked={draft.offered} onCheck={(offered) => onDraft({ ...draft, offered })} />
    </>
  );
}
