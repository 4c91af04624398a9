import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { billing as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { MoneyInput } from '../../ui/money-input.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { LoadingOrError } from '../../ui/loading-or-error.tsx';
import { toast } from '../../ui/toast.tsx';
import { cardLabel } from './cards-card.tsx';
import { autoTopUpQuery, cardsQuery, refreshMoney } from './queries.ts';
import type { SavedCard } from './queries.ts';

type AutoTopUp = ResponseBody<(typeof api.billing)['auto-top-up']['$get']>['autoTopUp'];

const DEFAULT_TERMS = { thresholdUsd: '5', amountUsd: '25', monthlyCapUsd: '100' } as const;

/** Automatic top-up: on or off, with its terms. */
export function AutoTopUpCard(): JSX.Element {
  const terms = useQuery(autoTopUpQuery);
  const cards = useQuery(cardsQuery);
  const retry = (): void => {
    for (const { error, refetch } of [terms, cards]) if (error !== null) void refetch();
  };
  return (
    <Card title={t.auto.title} hint={t.auto.hint}>
      {terms.data === undefined || cards.data === undefined ? (
        <LoadingOrError error={terms.error ?? cards.error} onRetry={retry} className="h-24" />
      ) : (
        <AutoTopUpForm key={String(terms.data.autoTopUp?.isOn)} current={terms.data.autoTopUp} cards={cards.data.cards} />
      )}
    </Card>
  );
}

function AutoTopUpForm({ current, cards }: { readonly current: AutoTopUp; readonly cards: readonly SavedCard[] }): JSX.Element {
  const isOn = current?.isOn === true;
  const [isOpen, setOpen] = useState(isOn);
  const [terms, setTerms] = useState(() => initialTerms(current, cards));
  const set = (change: Partial<typeof terms>): void => setTerms((old) => ({ ...old, ...change }));
  const { mutate, error, isPending } = useMutation({
    mutationFn: (turnOn: boolean) => call(api.billing['auto-top-up'].$put({ json: turnOn ? { isOn: turnOn, ...terms } : { isOn: false } })),
    onSuccess: (_, wasOn) => report(wasOn),
  });
  // Turning it on needs terms first, so the switch opens the form and shows what is saved.
  const toggle = (): void => (isOn ? mutate(false) : setOpen(!isOpen));
  return (
    <div className="flex flex-col gap-4">
      <Switch
        label={t.auto.label}
        isOn={isOn}
        isDisabled={cards.length === 0}
        hint={cards.length === 0 ? t.auto.needsCard : isOpen && !isOn ? t.auto.notYet : undefined}
        onSwitch={toggle}
      />
      <State current={current} />
      {isOpen && (
        <form
          className="grid gap-3 sm:grid-cols-2"
          onSubmit={(event) => {
            event.preventDefault();
            mutate(true);
          }}
        >
          <Amount label={t.auto.threshold} value={terms.thresholdUsd} onText={(thresholdUsd) => set({ thresholdUsd })} />
          <Amount label={t.auto.amount} value={terms.amountUsd} onText={(amountUsd) => set({ amountUsd })} />
          <Amount label={t.auto.cap} value={terms.monthlyCapUsd} onText={(monthlyCapUsd) => set({ monthlyCapUsd })} />
          <Field label={t.auto.card}>
            {(wiring) => (
              <Select
                {...wiring}
                value={terms.methodRef}
                choices={cards.map((card) => ({ value: card.methodRef, label: cardLabel(card) }))}
                onChoose={(methodRef) => set({ methodRef })}
              />
            )}
          </Field>
          {error !== null && (
            <p role="alert" className="text-sm font-medium text-bad sm:col-span-2">
              {error.message}
            </p>
          )}
          <div className="sm:col-span-2">
            <Button type="submit" variant="primary" isBusy={isPending}>
              {isOn ? t.auto.change : t.auto.save}
            </Button>
          </div>
        </form>
      )}
    </div>
  );
}

async function report(isOn: boolean): Promise<void> {
  toast('good', isOn ? t.auto.saved : t.auto.ended);
  await refreshMoney();
}

function initialTerms(current: AutoTopUp, cards: readonly SavedCard[]) {
  const { thresholdUsd, amountUsd, monthlyCapUsd } = current ?? DEFAULT_TERMS;
  return { thresholdUsd, amountUsd, monthlyCapUsd, methodRef: current?.methodRef ?? cards[0]?.methodRef ?? '' };
}

function Amount({
  label,
  value,
  onText,
}: {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}): JSX.Element {
  return <Field label={label}>{(wiring) => <MoneyInput {...wiring} value={value} onText={onText} required />}</Field>;
}

function State({ current }: { readonly current: AutoTopUp }): JSX.Element | null {
  if (current === null) return null;
  if (!current.isOn) return current.reason === '' ? null : <Banner tone="warn" title={t.auto.stopped(current.reason)} />;
  return (
    <Banner tone={current.reason === '' ? 'good' : 'warn'} title={current.reason === '' ? t.auto.on : t.auto.paused(current.reason)}>
      {t.auto.used(formatUsd(current.chargedThisMonthUsd), formatUsd(current.monthlyCapUsd))}
    </Banner>
  );
}
