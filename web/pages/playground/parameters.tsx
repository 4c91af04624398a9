import type { JSX } from 'react';
import type { ListedModel } from '../../queries.ts';
import { playground as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { NumberInput } from '../../ui/number-input.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import { TextInput } from '../../ui/text-input.tsx';

/** Parameters as typed; an empty field means the model's default. */
export interface Typed {
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
}

export const NOTHING_TYPED: Typed = { system: '', temperature: '', topP: '', maxTokens: '' };

interface ParametersProps {
  readonly models: readonly ListedModel[];
  readonly model: ListedModel;
  readonly onModel: (id: string) => void;
  readonly isStreamed: boolean;
  readonly onStream: (isStreamed: boolean) => void;
  readonly typed: Typed;
  readonly onType: (change: Partial<Typed>) => void;
}

/** Form for the model and its parameters. */
export function Parameters({ models, model, onModel, isStreamed, onStream, typed, onType }: ParametersProps): JSX.Element {
  return (
    <Card title={t.parameters}>
      <div className="flex flex-col gap-4">
        <Field label={t.model}>
          {(wiring) => (
            <Select {...wiring} value={model.id} choices={models.map(({ id }) => ({ value: id, label: id }))} onChoose={onModel} />
          )}
        </Field>
        <Field label={t.system} hint={t.systemHint}>
          {(wiring) => <TextArea {...wiring} rows={2} value={typed.system} onText={(system) => onType({ system })} />}
        </Field>
        <div className="grid grid-cols-2 gap-3">
          <Decimal label={t.temperature} value={typed.temperature} max={2} onText={(temperature) => onType({ temperature })} />
          <Decimal label={t.topP} value={typed.topP} max={1} onText={(topP) => onType({ topP })} />
        </div>
        <Field label={t.maxTokens}>
          {(wiring) => (
            <NumberInput
              {...wiring}
              range={[1, model.maxOutputTokens]}
              value={typed.maxTokens}
              placeholder={String(model.maxOutputTokens)}
              unit={t.tokens}
              onText={(maxTokens) => onType({ maxTokens })}
            />
          )}
        </Field>
        <Switch label={t.stream} hint={t.streamHint} isOn={isStreamed} onSwitch={onStream} />
      </div>
    </Card>
  );
}

interface DecimalProps {
  readonly label: string;
  readonly value: string;
  readonly max: number;
  readonly onText: (text: string) => void;
}

function Decimal({ label, value, max, onText }: DecimalProps): JSX.Element {
  return (
    <Field label={label}>
      {(wiring) => (
        <TextInput
          {...wiring}
          type="number"
          min={0}
          max={max}
          step={0.1}
          placeholder={t.modelDefault}
          value={value}
          onText={onText}
          className="figures"
        />
      )}
    </Field>
  );
}

/** Converts the typed parameters to those of the API. */
export function parametersOf({ temperature, topP, maxTokens }: Typed): Readonly<Record<string, number>> {
  const entered = { temperature, top_p: topP, max_completion_tokens: maxTokens };
  return Object.fromEntries(
    Object.entries(entered)
      .filter(([, text]) => text !== '' && Number.isFinite(Number(text)))
      .map(([name, text]) => [name, Number(text)]),
  );
}
