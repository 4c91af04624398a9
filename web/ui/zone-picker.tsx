import type { JSX } from 'react';
import { allZones, useChooseZone, useZone } from '../zone.ts';
import { kit as t } from '../strings/index.ts';
import { Field } from './field.tsx';
import { Select } from './select.tsx';

const CHOICES = allZones().map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }));

/** Picker for the time zone of all dates in the dashboard. This browser remembers it. */
export function ZonePicker({ isLabelHidden = false }: { readonly isLabelHidden?: boolean }): JSX.Element {
  const zone = useZone();
  const choose = useChooseZone();
  return (
    <Field label={t.zone} isLabelHidden={isLabelHidden}>
      {(wiring) => <Select {...wiring} value={zone} choices={CHOICES} onChoose={choose} />}
    </Field>
  );
}
