import { useId, useState } from 'react';
import type { JSX } from 'react';
import { formatUsd } from '../../money.ts';
import { modelPicker as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { perMillion } from './price.ts';
import type { OfferedModel } from './queries.ts';

interface ModelPickerProps {
  readonly legend: string;
  readonly models: readonly OfferedModel[];
  readonly chosen: readonly string[];
  readonly onChoose: (ids: readonly string[]) => void;
}

/** Models to choose from: by name, by provider, or by what they cost at most. */
export function ModelPicker({ legend, models, chosen, onChoose }: ModelPickerProps): JSX.Element {
  const [query, setQuery] = useState('');
  const [priceMax, setPriceMax] = useState('');
  const id = useId();
  const shown = models.filter((model) => matches(model, query, priceMax));
  const gone = chosen.filter((modelId) => models.every((model) => model.id !== modelId));
  const isChosen = new Set(chosen);
  const toggle = (modelId: string, isOn: boolean): void =>
    onChoose(isOn ? [...chosen, modelId] : chosen.filter((each) => each !== modelId));
  return (
    <div role="group" aria-labelledby={id} className="rounded-md border border-line p-3">
      <p id={id} className="sr-only">
        {legend}
      </p>
      <div className="mb-2 grid gap-2 sm:grid-cols-[1fr_13rem]">
        <Field label={t.search} isLabelHidden>
          {(wiring) => <TextInput {...wiring} type="search" placeholder={t.search} value={query} onText={setQuery} />}
        </Field>
        <Field label={t.price} isLabelHidden>
          {(wiring) => <MoneyInput {...wiring} placeholder={t.price} value={priceMax} onText={setPriceMax} />}
        </Field>
      </div>
      <div className="mb-2 flex flex-wrap items-center gap-2 text-xs text-muted">
        <Button size="sm" onClick={() => onChoose([...new Set([...chosen, ...shown.map((model) => model.id)])])}>
          {t.chooseShown(shown.length)}
        </Button>
        <Button size="sm" variant="quiet" disabled={chosen.length === 0} onClick={() => onChoose([])}>
          {t.none}
        </Button>
        <span role="status">{t.chosen(chosen.length)}</span>
      </div>
      <ul tabIndex={0} aria-label={legend} className="max-h-56 overflow-y-auto rounded-sm">
        {gone.map((modelId) => (
          <li key={modelId} className="py-1">
            <Checkbox label={modelId} hint={t.gone} isChecked onCheck={(isOn) => toggle(modelId, isOn)} />
          </li>
        ))}
        {shown.map((model) => (
          <li key={model.id} className="py-1">
            <Checkbox
              label={<span className="font-mono text-[0.8125rem] break-all">{model.id}</span>}
              hint={t.prices(formatUsd(perMillion(model.inputPrice)), formatUsd(perMillion(model.outputPrice)))}
              isChecked={isChosen.has(model.id)}
              onCheck={(isOn) => toggle(model.id, isOn)}
            />
          </li>
        ))}
        {shown.length === 0 && <li className="py-2 text-sm text-muted">{t.nothing}</li>}
      </ul>
    </div>
  );
}

/** Providers are part of the id, so searching for one gives all of its models. */
function matches({ id, name, provider, outputPrice }: OfferedModel, query: string, priceMax: string): boolean {
  const words = query.toLowerCase().split(/\s+/u);
  const text = `${id} ${name} ${provider}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return false;
  return priceMax === '' || Number(perMillion(outputPrice)) <= Number(priceMax);
}
