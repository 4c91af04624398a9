import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { ApiError, api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { formatUsd } from '../../money.ts';
import { billing as t } from '../../strings/index.ts';
import { Banner } from '../../ui/banner.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { refreshMoney } from './queries.ts';

/** Form to redeem a promo code. */
export function RedeemCard(): JSX.Element {
  const [code, setCode] = useState('');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call(api.billing.redeem.$post({ json: { code } })),
    onSuccess: async () => {
      setCode('');
      await refreshMoney();
    },
  });
  return (
    <Card title={t.redeem.title}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field label={t.redeem.label} error={error instanceof ApiError ? error.message : undefined}>
          {(wiring) => (
            <div className="flex gap-2">
              <TextInput
                {...wiring}
                value={code}
                onText={setCode}
                autoComplete="off"
                spellCheck={false}
                className="min-w-0 flex-1 font-mono"
              />
              <Button type="submit" isBusy={isPending} disabled={code.trim() === ''}>
                {t.redeem.submit}
              </Button>
            </div>
          )}
        </Field>
        {data !== undefined && <Banner tone="good" title={describeBenefit(data)} />}
      </form>
    </Card>
  );
}

function describeBenefit(benefit: ResponseBody<typeof api.billing.redeem.$post>): string {
  switch (benefit.kind) {
    case 'credit':
      return t.redeem.credit(formatUsd(benefit.usd));
    case 'plan':
      return t.redeem.plan;
    case 'bonus':
      return t.redeem.bonus(benefit.percent, formatUsd(benefit.maxUsd));
  }
}
