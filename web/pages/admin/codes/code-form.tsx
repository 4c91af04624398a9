import type { JSX, ReactNode } from 'react';
import { adminCodes } from '../../../strings/index.ts';
import { Field } from '../../../ui/field.tsx';
import { labelled } from '../../../ui/filter-select.tsx';
import { InputLine } from '../../../ui/input-line.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { Select } from '../../../ui/select.tsx';
import { useZone } from '../../../zone.ts';
import type { CodeDraft } from './code-draft.ts';
import type { CodesContent } from './queries.ts';

const t = adminCodes.form;

interface CodeFormProps {
  readonly draft: CodeDraft;
  readonly onDraft: (draft: CodeDraft) => void;
  readonly plans: CodesContent['plans'];
  /** Why the server refused a field. */
  readonly errorFor: (field: string) => string | undefined;
}

/** Everything that can be said about codes, in one form. */
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
      <Row>
        <Benefit {...form} />
      </Row>
      <RadioCards
        legend={t.which}
        value={draft.which}
        cards={labelled(['many', 'own'] as const, t.whichs)}
        onChoose={(which) => onDraft({ ...draft, which })}
      />
      <Row>
        {draft.which === 'own' ? (
          <Line form={form} name="code" />
        ) : (
          <>
            <Line form={form} name="count" as="count" />
            <Line form={form} name="prefix" isOptional />
          </>
        )}
        <Line form={form} name="campaign" isOptional />
      </Row>
      <Row>
        <Line form={form} name="uses" as="count" />
        <Line form={form} name="perAccount" as="count" />
        <Line form={form} name="newAccountDays" as="count" isOptional />
        <Line form={form} name="minimumTopUpUsd" as="usd" isOptional />
        <Line form={form} name="from" as="day" field="validFromMs" isOptional />
        <Line form={form} name="to" as="day" field="validToMs" isOptional />
      </Row>
      <p className="text-xs text-muted">{t.days(zone)}</p>
    </div>
  );
}

function Row({ children }: { readonly children: ReactNode }): JSX.Element {
  return <div className="grid gap-4 sm:grid-cols-3">{children}</div>;
}

function Benefit(form: CodeFormProps): JSX.Element {
  const { draft, onDraft, plans, errorFor } = form;
  if (draft.kind === 'plan') {
    const choices = [{ value: '', label: t.choosePlan }, ...plans.map(({ id, name }) => ({ value: id, label: `${name} (${id})` }))];
    return (
      <>
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
        <Line form={form} name="periods" as="count" />
      </>
    );
  }
  return (
    <>
      {draft.kind === 'credit' && <Line form={form} name="creditUsd" as="usd" />}
      {draft.kind === 'bonus' && <Line form={form} name="bonusPercent" as="count" />}
      {draft.kind === 'bonus' && <Line form={form} name="bonusMaxUsd" as="usd" />}
      <Line form={form} name="creditDays" as="count" isOptional />
    </>
  );
}

interface LineProps {
  readonly form: CodeFormProps;
  readonly name: keyof typeof t.fields;
  readonly as?: 'text' | 'count' | 'usd' | 'day';
  /** What the server calls it, where that differs. */
  readonly field?: string;
  readonly isOptional?: boolean;
}

function Line({ form: { draft, onDraft, errorFor }, name, as = 'text', field = name, isOptional = false }: LineProps): JSX.Element {
  return (
    <InputLine
      label={t.fields[name]}
      as={as}
      value={draft[name]}
      onText={(text) => onDraft({ ...draft, [name]: text })}
      hint={t.hints[name]}
      unit={t.units[name]}
      error={errorFor(field)}
      isOptional={isOptional}
    />
  );
}
