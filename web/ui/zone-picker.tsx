import type { JSX } from 'react';
import { useChooseZone, useZone, zoneChoices } from '../zone.ts';
import { kit as t } from '../strings/index.ts';
import { Field } from './field.tsx';
import { Select } from './select.tsx';

/** Picker for the time zone of all dates in the dashboard. This browser remembers it. */
export function ZonePicker({ isLabelHidden = false }: { readonly isLabelHidden?: boolean }): JSX.Element {
  const zone = useZone();
  const choose = useChooseZone();
  return (
    <Field label={t.zone} isLabelHidden={isLabelHidden}>
      {(wiring) => <Select {...wiring} value={zone} choices={zoneChoices(zone)} onChoose={choose} />}
    </Field>
  );
}
