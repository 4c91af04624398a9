import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import type { ChangeOf } from '../../search-params.ts';
import { GROUPS, isMean, METRICS } from '../../../src/dashboard/contract.ts';
import type { Group } from '../../../src/dashboard/contract.ts';
import { NameFilters, NamesFault } from '../../name-filters.tsx';
import type { Names } from '../../names.ts';
import { filters, usage as t } from '../../strings/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { FilterBar, SearchInput } from '../../ui/filter-bar.tsx';
import { FilterSelect, labelled, plainChoices } from '../../ui/filter-select.tsx';
import { RangePicker } from '../../ui/range-picker.tsx';
import { Select, type Choice } from '../../ui/select.tsx';
import type { ReportSpec } from './report.ts';
import { FILTERS, STATUSES, TOP_COUNTS, type UsageSearch } from './search.ts';

interface ControlsProps {
  readonly search: UsageSearch;
  readonly spec: ReportSpec;
  readonly names: Names;
  /** Writes the changes into the URL. */
  readonly onChange: (change: ChangeOf<UsageSearch>) => void;
  /** Given if a filter is active. */
  readonly onClear: (() => void) | undefined;
}

/** Controls of the report: range, options and filters. */
export function UsageControls({ search, spec, names, onChange, onClear }: ControlsProps): JSX.Element {
  return (
    <>
      <div className="mb-4">
        <RangePicker
          choice={{ range: search.range ?? '7d', from: search.from, to: search.to }}
          onChoose={({ range, from, to }) => onChange({ range, from, to, bucket: undefined })}
        />
      </div>
      <ReportOptions spec={spec} top={search.top ?? '7'} onChange={onChange} />
      <FilterBar onClear={onClear}>
        <NameFilters search={search} names={names} onChange={onChange} />
        <FilterSelect
          label={filters.status}
          all={filters.anyStatus}
          choices={labelled(STATUSES, t.statuses)}
          value={search.status}
          onChoose={(status) => onChange({ status })}
        />
        <SearchInput
          label={filters.endUser}
          value={search.end_user ?? ''}
          onText={(text) => onChange({ end_user: text === '' ? undefined : text })}
        />
      </FilterBar>
      <NamesFault />
    </>
  );
}

type ReportOptionsProps = Pick<ControlsProps, 'spec' | 'onChange'> & { readonly top: (typeof TOP_COUNTS)[number] };

function ReportOptions({ spec, top, onChange }: ReportOptionsProps): JSX.Element {
  const [group, second] = spec.groups;
  const seconds: Choice<Group | ''>[] = [
    { value: '', label: t.noSecond },
    ...labelled(
      GROUPS.filter((each) => each !== group),
      t.groups,
    ),
  ];
  return (
    <div className="mb-3 flex flex-wrap items-end gap-2">
      <LabelledSelect
        label={t.metric}
        value={spec.metric}
        choices={labelled(METRICS, t.metrics)}
        onChoose={(metric) => onChange({ metric })}
      />
      <LabelledSelect
        label={t.group}
        value={group}
        choices={labelled(GROUPS, t.groups)}
        onChoose={(chosen) => onChange({ group: chosen, ...(chosen === second && { second: undefined }) })}
      />
      <LabelledSelect
        label={t.second}
        value={second ?? ''}
        choices={seconds}
        onChoose={(chosen) => onChange({ second: chosen === '' ? undefined : chosen })}
      />
      <LabelledSelect
        label={t.bucket}
        value={spec.bucket}
        choices={labelled(spec.buckets, t.buckets)}
        onChoose={(bucket) => onChange({ bucket })}
      />
      <LabelledSelect
        label={t.top}
        value={top}
        choices={plainChoices(TOP_COUNTS)}
        onChoose={(chosen) => onChange({ top: TOP_COUNTS.find((each) => each === chosen && each !== '7') })}
      />
      <span className="flex items-center gap-4 pb-2">
        <Checkbox label={t.compare} isChecked={spec.isCompared} onCheck={(isOn) => onChange({ compare: isOn ? 'yes' : undefined })} />
        <Checkbox
          label={t.cumulative}
          isChecked={spec.isCumulative}
          disabled={isMean(spec.metric)}
          onCheck={(isOn) => onChange({ cumulative: isOn ? 'yes' : undefined })}
        />
      </span>
    </div>
  );
}

interface LabelledSelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
}

/** A small select with a label. */
function LabelledSelect<Value extends string>({ label, value, choices, onChoose }: LabelledSelectProps<Value>): JSX.Element {
  return (
    <Field label={label} className="w-[calc(50%-0.25rem)] text-xs sm:w-auto [&_label]:text-xs [&_label]:font-normal [&_label]:text-muted">
      {(wiring) => <Select {...wiring} value={value} choices={choices} onChoose={onChoose} className="sm:max-w-56" />}
    </Field>
  );
}

/** Returns the range and filters of the report as search parameters of the requests page. */
export function requestsSearch(search: UsageSearch): Omit<UsageSearch, 'metric' | 'group'> {
  const kept = ['range', 'from', 'to', 'zone', ...FILTERS] as const;
  return Object.fromEntries(kept.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])));
}

/** Link to the single requests, with the same range and filters. */
export function RequestsLink({ search }: { readonly search: UsageSearch }): JSX.Element {
  return (
    <Link to="/requests" search={requestsSearch(search)} className="link text-sm">
      {t.seeRequests}
    </Link>
  );
}
