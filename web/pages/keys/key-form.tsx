import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { formatCount } from '../../numbers.ts';
import { keyForm as t, keys } from '../../strings/index.ts';
import { useZone, zoneChoices } from '../../zone.ts';
import { Field } from '../../ui/field.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { NumberInput } from '../../ui/number-input.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { Select } from '../../ui/select.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { AT_LIMIT, EXPIRIES, PERIODS } from './key-draft.ts';
import type { KeyDraft } from './key-draft.ts';
import { ModelPicker } from './model-picker.tsx';
import { keyOptionsQuery } from './queries.ts';

export interface KeyFormProps {
  readonly draft: KeyDraft;
  readonly onDraft: (draft: KeyDraft) => void;
  /** The field that the server rejected, and why. */
  readonly refusal?: { readonly field: string | undefined; readonly message: string } | undefined;
}

const ADVANCED_FIELDS = ['models', 'deniedModels', 'addresses', 'tags'];

/** Form for all settings of a key. */
export function KeyForm(props: KeyFormProps): JSX.Element {
  const { draft, refusal } = props;
  // Only the initial state: the section must not close when the user clears a field.
  const [isExpanded, setExpanded] = useState(
    draft.models !== undefined || draft.deniedModels.length > 0 || draft.addresses !== '' || draft.tags !== '',
  );
  const hasError = ADVANCED_FIELDS.some((field) => errorFor(field, refusal) !== undefined);
  return (
    <div className="flex flex-col gap-6">
      <Basics {...props} />
      <MoneyLimits {...props} />
      <Rates {...props} />
      <details
        open={isExpanded || hasError}
        onToggle={({ currentTarget }) => setExpanded(currentTarget.open)}
        className="group border-t border-line pt-4"
      >
        <summary className="cursor-pointer text-sm font-medium">{t.advanced}</summary>
        <div className="mt-4 flex flex-col gap-6">
          <Models {...props} />
          <AddressesAndTags {...props} />
        </div>
      </details>
    </div>
  );
}

function Basics({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  const zone = useZone();
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t.name} hint={t.nameHint} error={errorFor('name', refusal)} className="sm:col-span-2">
        {(wiring) => <TextInput {...wiring} required maxLength={100} value={draft.name} onText={(name) => onDraft({ ...draft, name })} />}
      </Field>
      <Field label={t.expiry} error={draft.expiry === 'date' ? undefined : errorFor('expiresAtMs', refusal)}>
        {(wiring) => (
          <Select
            {...wiring}
            className="w-full"
            value={draft.expiry}
            choices={EXPIRIES.map((value) => ({ value, label: t.expiries[value] }))}
            onChoose={(expiry) => onDraft({ ...draft, expiry })}
          />
        )}
      </Field>
      {draft.expiry === 'date' && (
        <Field label={t.expiryDay} hint={t.expiryDayHint(zone)} error={errorFor('expiresAtMs', refusal)}>
          {(wiring) => (
            <TextInput {...wiring} type="date" required value={draft.expiryDay} onText={(expiryDay) => onDraft({ ...draft, expiryDay })} />
          )}
        </Field>
      )}
    </div>
  );
}

function MoneyLimits({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  return (
    <fieldset className="min-w-0">
      <legend className="text-sm font-medium">{t.money}</legend>
      <p className="mb-3 text-xs text-muted">{t.moneyHint}</p>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        {PERIODS.map((period) => (
          <Field key={period} label={keys.period[period]} error={errorFor(`budgets.${period}`, refusal)}>
            {(wiring) => (
              <MoneyInput
                {...wiring}
                placeholder={t.noLimit}
                value={draft.budgets[period]}
                onText={(text) => onDraft({ ...draft, budgets: { ...draft.budgets, [period]: text } })}
              />
            )}
          </Field>
        ))}
      </div>
      <AtLimit draft={draft} onDraft={onDraft} refusal={refusal} />
    </fieldset>
  );
}

/** Settings shared by all budgets: what happens at the limit, and the time zone. */
function AtLimit({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  return (
    <div className="mt-4 flex flex-col gap-4">
      <RadioCards
        legend={t.atLimit}
        value={draft.atLimit}
        cards={AT_LIMIT.map((value) => ({ value, label: t.atLimitChoices[value], hint: t.atLimitHints[value] }))}
        onChoose={(atLimit) => onDraft({ ...draft, atLimit })}
      />
      <Field label={t.limitZone} hint={t.limitZoneHint} error={errorFor('limitZone', refusal)}>
        {(wiring) => (
          <Select
            {...wiring}
            className="w-full sm:max-w-72"
            value={draft.limitZone}
            choices={zoneChoices(draft.limitZone)}
            onChoose={(limitZone) => onDraft({ ...draft, limitZone })}
          />
        )}
      </Field>
    </div>
  );
}

const RATES = ['requestsPerMinute', 'tokensPerMinute', 'concurrent'] as const;

function Rates({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  const { data: options } = useQuery(keyOptionsQuery);
  return (
    <fieldset className="min-w-0">
      <legend className="text-sm font-medium">{t.rates}</legend>
      <p className="mb-3 text-xs text-muted">{t.ratesHint}</p>
      <div className="grid gap-4 sm:grid-cols-3">
        {RATES.map((rate) => (
          <Field key={rate} label={t[rate]} error={errorFor(rate, refusal)}>
            {(wiring) => (
              <NumberInput
                {...wiring}
                placeholder={options === undefined ? '' : formatCount(options.limits[rate])}
                value={draft[rate]}
                onText={(text) => onDraft({ ...draft, [rate]: text })}
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}

function Models({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  const error = errorFor('models', refusal);
  return (
    <>
      <div className="flex min-w-0 flex-col gap-3">
        <RadioCards
          legend={t.models}
          value={draft.models === undefined ? 'all' : 'some'}
          cards={(['all', 'some'] as const).map((value) => ({ value, label: t.modelChoices[value] }))}
          onChoose={(choice) => onDraft({ ...draft, models: choice === 'all' ? undefined : (draft.models ?? []) })}
        />
        {draft.models !== undefined && (
          <ModelPicker legend={t.models} chosen={draft.models} onChoose={(models) => onDraft({ ...draft, models })} />
        )}
        {error !== undefined && <p className="text-xs font-medium text-bad">{error}</p>}
      </div>
      <div className="min-w-0">
        <p className="text-sm font-medium">{t.denied}</p>
        <p className="mb-2 text-xs text-muted">{t.deniedHint}</p>
        <ModelPicker
          legend={t.denied}

          chosen={draft.deniedModels}
          onChoose={(deniedModels) => onDraft({ ...draft, deniedModels })}
        />
      </div>
    </>
  );
}

function AddressesAndTags({ draft, onDraft, refusal }: KeyFormProps): JSX.Element {
  return (
    <>
      <Field label={t.addresses} hint={t.addressesHint} error={errorFor('addresses', refusal)}>
        {(wiring) => (
          <TextArea
            {...wiring}
            spellCheck={false}
            className="font-mono text-[0.8125rem]"
            value={draft.addresses}
            onText={(addresses) => onDraft({ ...draft, addresses })}
          />
        )}
      </Field>
      <Field label={t.tags} hint={t.tagsHint} error={errorFor('tags', refusal)}>
        {(wiring) => <TextInput {...wiring} value={draft.tags} onText={(tags) => onDraft({ ...draft, tags })} />}
      </Field>
    </>
  );
}

/** Returns the error of a field. `addresses.2` belongs to the field `addresses`. */
function errorFor(field: string, refusal: KeyFormProps['refusal']): string | undefined {
  return refusal?.field === field || refusal?.field?.startsWith(`${field}.`) === true ? refusal.message : undefined;
}
