import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { JSX } from 'react';
import { formatUsdExact } from '../../money.ts';
import { modelPicker as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field } from '../../ui/field.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { perMillion } from './price.ts';
import { keyOptionsQuery } from './queries.ts';
import type { OfferedModel } from './queries.ts';

interface ModelPickerProps {
  readonly legend: string;
  readonly chosen: readonly string[];
  readonly onChoose: (ids: readonly string[]) => void;
}

/** Picker for models, searchable by name, provider and maximum price. */
export function ModelPicker(props: ModelPickerProps): JSX.Element {
  const { data: options, error, refetch } = useQuery(keyOptionsQuery);
  if (options === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-32" />;
  return <LoadedPicker {...props} models={options.models} />;
}

interface LoadedPickerProps extends ModelPickerProps {
  readonly models: readonly OfferedModel[];
}

function LoadedPicker({ legend, models, chosen, onChoose }: LoadedPickerProps): JSX.Element {
  const [query, setQuery] = useState('');
  const [priceMax, setPriceMax] = useState('');
  const id = useId();
  const shown = models.filter((model) => matches(model, query, priceMax));
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
      <ModelList legend={legend} models={models} shown={shown} chosen={chosen} onChoose={onChoose} />
    </div>
  );
}

/** Checkboxes for chosen rules that no longer match a model, for whole providers, and for single models. */
function ModelList({
  legend,
  models,
  shown,
  chosen,
  onChoose,
}: LoadedPickerProps & { readonly shown: readonly OfferedModel[] }): JSX.Element {
  const unavailable = chosen.filter((rule) => models.every((model) => model.id !== rule && providerRule(model.id) !== rule));
  const chosenRules = new Set(chosen);
  const toggle = (rule: string, isOn: boolean): void => onChoose(isOn ? [...chosen, rule] : chosen.filter((each) => each !== rule));
  return (
    <ul tabIndex={0} aria-label={legend} className="max-h-56 overflow-y-auto rounded-sm">
      {unavailable.map((rule) => (
        <li key={rule} className="py-1">
          <Checkbox label={rule} hint={t.gone} isChecked onCheck={(isOn) => toggle(rule, isOn)} />
        </li>
      ))}
      {[...countByProvider(shown)].map(([every, count]) => (
        <li key={every} className="py-1">
          <Checkbox
            label={<span className="font-mono text-[0.8125rem]">{every}</span>}
            hint={t.every(count)}
            isChecked={chosenRules.has(every)}
            onCheck={(isOn) => toggle(every, isOn)}
          />
        </li>
      ))}
      {shown.map((model) => (
        <li key={model.id} className="py-1">
          <Checkbox
            label={<span className="font-mono text-[0.8125rem] wrap-anywhere">{model.id}</span>}
            hint={chosenRules.has(providerRule(model.id)) ? t.byProvider : pricesOf(model)}
            disabled={chosenRules.has(providerRule(model.id))}
            isChecked={chosenRules.has(model.id) || chosenRules.has(providerRule(model.id))}
            onCheck={(isOn) => toggle(model.id, isOn)}
          />
        </li>
      ))}
      {shown.length === 0 && <li className="py-2 text-sm text-muted">{t.nothing}</li>}
    </ul>
  );
}

function pricesOf({ inputPrice, outputPrice }: OfferedModel): string {
  return t.prices(formatUsdExact(perMillion(inputPrice)), formatUsdExact(perMillion(outputPrice)));
}

/** Returns the rule for all models of the model's provider, in the server's syntax. */
function providerRule(modelId: string): string {
  return `${modelId.slice(0, modelId.indexOf('/'))}/*`;
}

/** Counts the models of each provider rule. */
function countByProvider(models: readonly OfferedModel[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { id } of models) counts.set(providerRule(id), (counts.get(providerRule(id)) ?? 0) + 1);
  return counts;
}

/** Matches words against id, name and provider, so that searching for a provider finds all of its models. */
function matches({ id, name, provider, outputPrice }: OfferedModel, query: string, priceMax: string): boolean {
  const words = query.toLowerCase().split(/\s+/u);
  const text = `${id} ${name} ${provider}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return false;
  return priceMax === '' || Number(perMillion(outputPrice)) <= Number(priceMax);
}
