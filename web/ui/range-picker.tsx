import type { JSX } from 'react';
import { addDays, dayOf, formatSpan, RANGE_NAMES, spanOf } from '../time.ts';
import type { RangeChoice, RangeName } from '../time.ts';
import { useZone } from '../zone.ts';
import { kit as t } from '../strings/index.ts';
import { DayInput } from './day-input.tsx';
import { Segmented } from './segmented.tsx';
import type { Choice } from './select.tsx';

const RANGES: readonly Choice<RangeName>[] = RANGE_NAMES.map((value) => ({ value, label: t.ranges[value] }));

interface RangePickerProps {
  readonly choice: RangeChoice;
  readonly onChoose: (choice: RangeChoice) => void;
}

/** Picker for a range of hours or days. Shows the resulting dates with their time zone. */
export function RangePicker({ choice, onChoose }: RangePickerProps): JSX.Element {
  const zone = useZone();
  const today = dayOf(Date.now(), zone);
  const days = { from: choice.from ?? addDays(today, -6), to: choice.to ?? today };
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Segmented
        label={t.range}
        value={choice.range}
        choices={RANGES}
        onChoose={(range) => onChoose(range === 'custom' ? { range, ...days } : { range })}
      />
      {choice.range === 'custom' && (
        <span className="flex flex-wrap items-center gap-1.5 text-sm text-muted">
          <DayInput
            label={t.from}
            value={days.from}
            max={days.to}
            onDay={(from) => from !== '' && onChoose({ range: 'custom', ...days, from })}
          />
          –
          <DayInput label={t.to} value={days.to} min={days.from} onDay={(to) => to !== '' && onChoose({ range: 'custom', ...days, to })} />
        </span>
      )}
      <span className="text-xs text-muted">{formatSpan(spanOf(choice, zone, Date.now()), zone)}</span>
    </div>
  );
}
