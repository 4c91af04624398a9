import type { JSX } from 'react';
import { addDays, dayOf, formatSpan, spanOf } from '../time.ts';
import type { RangeChoice, RangeName } from '../time.ts';
import { useZone } from '../zone.ts';
import { Segmented } from './segmented.tsx';
import type { Choice } from './select.tsx';
import { TextInput } from './text-input.tsx';

const RANGES: readonly Choice<RangeName>[] = [
  { value: '1h', label: '1 hour' },
  { value: '6h', label: '6 hours' },
  { value: 'today', label: 'Today' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'month', label: 'Month' },
  { value: 'custom', label: 'Custom' },
];

interface RangePickerProps {
  readonly choice: RangeChoice;
  readonly onChoose: (choice: RangeChoice) => void;
}

/** A range of hours or days. What it comes to is printed beside it, with the zone in which its days begin. */
export function RangePicker({ choice, onChoose }: RangePickerProps): JSX.Element {
  const zone = useZone();
  const today = dayOf(Date.now(), zone);
  const days = { from: choice.from ?? addDays(today, -6), to: choice.to ?? today };
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Segmented
        label="Range"
        value={choice.range}
        choices={RANGES}
        onChoose={(range) => onChoose(range === 'custom' ? { range, ...days } : { range })}
      />
      {choice.range === 'custom' && (
        <span className="flex items-center gap-1.5 text-sm text-muted">
          <TextInput
            type="date"
            aria-label="From"
            value={days.from}
            max={days.to}
            onText={(from) => from !== '' && onChoose({ range: 'custom', ...days, from })}
            className="w-auto"
          />
          –
          <TextInput
            type="date"
            aria-label="To"
            value={days.to}
            min={days.from}
            onText={(to) => to !== '' && onChoose({ range: 'custom', ...days, to })}
            className="w-auto"
          />
        </span>
      )}
      <span className="text-xs text-muted">{formatSpan(spanOf(choice, zone, Date.now()), zone)}</span>
    </div>
  );
}
