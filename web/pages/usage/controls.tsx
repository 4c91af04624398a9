import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { filterChoices, keyLabel, plainChoices, type Names } from '../../names.ts';
import { usage as t } from '../../strings/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { RangePicker } from '../../ui/range-picker.tsx';
import { Select, type Choice } from '../../ui/select.tsx';
import { bucketsFor, isMean, type Asked } from './report.ts';
import { GROUPS, METRICS, TOPS, type UsageSearch } from './search.ts';

interface ControlsProps {
  readonly search: UsageSearch;
  readonly asked: Asked;
  readonly names: Names;
  /** Puts these into the address; undefined takes them out. */
  readonly onChange: (change: { readonly [Name in keyof UsageSearch]?: UsageSearch[Name] | undefined }) => void;
}

/** Everything that decides what is shown: the range, the question, and the filters. */
export function UsageControls(props: ControlsProps): JSX.Element {
  const { search, onChange } = props;
  const isFiltered = search.model !== undefined || search.key !== undefined || search.provider !== undefined;
  return (
    <>
      <div className="mb-4">
        <RangePicker
          choice={{ range: search.range ?? '7d', from: search.from, to: search.to }}
          onChoose={({ range, from, to }) => onChange({ range, from, to, bucket: undefined })}
        />
      </div>
      <FilterBar onClear={isFiltered ? () => onChange({ model: undefined, key: undefined, provider: undefined }) : undefined}>
        <Question {...props} />
        <Filters {...props} />
      </FilterBar>
    </>
  );
}

function Question({ search, asked, onChange }: ControlsProps): JSX.Element {
  const metrics = asked.group === 'status' ? METRICS.filter((metric) => !isMean(metric)) : METRICS;
  return (
    <>
      <Chooser label={t.metric} value={asked.metric} choices={labelled(metrics, t.metrics)} onChoose={(metric) => onChange({ metric })} />
      <Chooser
        label={t.group}
        value={asked.group}
        choices={labelled(isMean(asked.metric) ? GROUPS.filter((group) => group !== 'status') : GROUPS, t.groups)}
        onChoose={(group) => onChange({ group })}
      />
      <Chooser
        label={t.bucket}
        value={asked.bucket}
        choices={labelled(bucketsFor(asked.span), t.buckets)}
        onChoose={(bucket) => onChange({ bucket })}
      />
      <Chooser
        label={t.top}
        value={search.top ?? '7'}
        choices={TOPS.map((value) => ({ value, label: value }))}
        onChoose={(top) => onChange({ top: top === '7' ? undefined : top })}
      />
      <span className="flex items-center gap-4 self-end pb-2">
        <Checkbox label={t.compare} isChecked={asked.isCompared} onCheck={(isOn) => onChange({ compare: isOn ? 'yes' : undefined })} />
        <Checkbox
          label={t.cumulative}
          isChecked={asked.isCumulative}
          disabled={isMean(asked.metric)}
          onCheck={(isOn) => onChange({ cumulative: isOn ? 'yes' : undefined })}
        />
      </span>
    </>
  );
}

function Filters({ search, names, onChange }: ControlsProps): JSX.Element {
  const { model = '', key = '', provider = '' } = search;
  const keys = names.keys.map(({ id }) => ({ value: id, label: keyLabel(id, names) }));
  return (
    <>
      <Chooser
        label={t.filterModel}
        value={model}
        choices={filterChoices({ all: t.allModels, values: plainChoices(names.models), chosen: model })}
        onChoose={(value) => onChange({ model: given(value) })}
      />
      <Chooser
        label={t.filterKey}
        value={key}
        choices={filterChoices({ all: t.allKeys, values: keys, chosen: key })}
        onChoose={(value) => onChange({ key: given(value) })}
      />
      <Chooser
        label={t.filterProvider}
        value={provider}
        choices={filterChoices({ all: t.allProviders, values: plainChoices(names.providers), chosen: provider })}
        onChoose={(value) => onChange({ provider: given(value) })}
      />
    </>
  );
}

interface ChooserProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
}

/** A small labelled choice, as filters have. */
export function Chooser<Value extends string>({ label, value, choices, onChoose }: ChooserProps<Value>): JSX.Element {
  return (
    <Field label={label} className="max-w-full text-xs [&_label]:text-xs [&_label]:font-normal [&_label]:text-muted">
      {(wiring) => <Select {...wiring} value={value} choices={choices} onChoose={onChoose} className="max-w-56" />}
    </Field>
  );
}

/** The way to the single requests, with the same range and filters. */
export function RequestsLink({ search: { range, from, to, model, key, provider } }: { readonly search: UsageSearch }): JSX.Element {
  const kept = { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
  const filters = { ...(model && { model }), ...(key && { key }), ...(provider && { provider }) };
  return (
    <Link to="/requests" search={{ ...kept, ...filters }} className="link text-sm">
      {t.seeRequests}
    </Link>
  );
}

function labelled<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>): Choice<Value>[] {
  return values.map((value) => ({ value, label: labels[value] }));
}

function given(value: string): string | undefined {
  return value === '' ? undefined : value;
}
