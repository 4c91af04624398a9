import type { JSX } from 'react';
import { adminCodes } from '../../../strings/index.ts';
import { Field } from '../../../ui/field.tsx';
import { labelled } from '../../../ui/filter-select.tsx';
import { InputLine } from '../../../ui/input-line.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { Select } from '../../../ui/select.tsx';
import { useZone } from '../../../zone.ts';
import { isShown, FORM_FIELDS, type CodeDraft, type FieldName } from './code-draft.ts';
import type { CodesContent } from './queries.ts';

const t = adminCodes.form;
const BENEFIT = ['creditUsd', 'periods', 'bonusPercent', 'bonusMaxUsd', 'creditDays'] as const;
const WHICH = ['code', 'count', 'prefix', 'campaign'] as const;
const RULES = ['uses', 'perAccount', 'newAccountDays', 'minimumTopUpUsd', 'validFromMs', 'validToMs'] as const;

interface CodeFormProps {
  readonly draft: CodeDraft;
  readonly onDraft: (draft: CodeDraft) => void;
  readonly plans: CodesContent['plans'];
  /** Returns why the server rejected a field. */
  readonly errorFor: (field: string) => string | undefined;
}

/** Form for all properties of new codes. */
export function CodeForm(form: CodeFormProps): JSX.Element {
  const { draft, onDraft } = form;
  const zone = useZone();
  return (
    <div className="flex flex-col gap-5">
      <RadioCards
        legend={t.kind}
        className="sm:grid-cols-3"
        value={draft.kind}
        cards={labelled(['credit', 'plan', 'bonus'] as const, t.kinds)}
        onChoose={(kind) => onDraft({ ...draft, kind })}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        {draft.kind === 'plan' && <PlanChoice {...form} />}
        <Fields form={form} names={BENEFIT} />
      </div>
      <RadioCards
        legend={t.which}
        value={draft.which}
        cards={labelled(['many', 'own'] as const, t.whichs)}
        onChoose={(which) => onDraft({ ...draft, which })}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <Fields form={form} names={WHICH} />
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Fields form={form} names={RULES} />
      </div>
      <p className="text-xs text-muted">{t.days(zone)}</p>
    </div>
  );
}

function PlanChoice({ draft, onDraft, plans, errorFor }: CodeFormProps): JSX.Element {
  const choices = [{ value: '', label: t.choosePlan }, ...plans.map(({ id, name }) => ({ value: id, label: `${name} (${id})` }))];
  return (
    <Field label={t.plan} error={errorFor('planId')}>
      {(wiring) => (
        <Select
          {...wiring}
          className="w-full"
          value={draft.planId}
          choices={choices}
          onChoose={(planId) => onDraft({ ...draft, planId })}
        />
      )}
    </Field>
  );
}

interface FieldsProps {
  readonly form: CodeFormProps;
  readonly names: readonly FieldName[];
}

function Fields({ form: { draft, onDraft, errorFor }, names }: FieldsProps): JSX.Element[] {
  return names
    .filter((name) => isShown(draft, name))
    .map((name) => (
      <InputLine
        key={name}
        {...FORM_FIELDS[name]}
        label={t.fields[name]}
        value={draft.typed[name] ?? ''}
        onText={(text) => onDraft({ ...draft, typed: { ...draft.typed, [name]: text } })}
        hint={t.hints[name]}
        unit={t.units[name]}
        error={errorFor(name)}
      />
    ));
}
