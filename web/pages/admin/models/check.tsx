import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { formatPercent } from '../../../numbers.ts';
import { adminModels } from '../../../strings/index.ts';
import { Banner } from '../../../ui/banner.tsx';
import { Drawer } from '../../../ui/drawer.tsx';
import { Field } from '../../../ui/field.tsx';
import { fieldError, Form } from '../../../ui/form.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import { PriceRow } from '../../models/price-row.tsx';
import { checkYaml, type Checked } from './queries.ts';

const t = adminModels.check;

/** Checks a piece of tollgate.yaml and shows how it would change the price list. Nothing is saved. */
export function CheckDrawer({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const { mutate, data, error, isPending } = useMutation({ mutationFn: checkYaml });
  return (
    <Drawer isOpen={isOpen} onClose={onClose} title={t.title} text={t.text}>
      <Form
        action={t.action}
        isBusy={isPending}
        isDisabled={text.trim() === ''}
        error={error}
        fields={['text']}
        onSubmit={() => mutate(text)}
      >
        <Field label={t.yaml} error={fieldError(error, 'text')}>
          {(wiring) => (
            <TextArea {...wiring} value={text} onText={setText} rows={10} spellCheck={false} className="min-h-40 font-mono text-xs" />
          )}
        </Field>
      </Form>
      <div aria-live="polite" className="mt-5 flex flex-col gap-5">
        {data !== undefined && error === null && <CheckResult result={data} />}
      </div>
    </Drawer>
  );
}

function CheckResult({ result: { mistakes, added, changed, same, absent } }: { readonly result: Checked }): JSX.Element {
  if (mistakes.length > 0)
    return (
      <Banner tone="bad" title={t.wrong(mistakes.length)}>
        <ul className="mt-1 flex flex-col gap-1">
          {mistakes.map((mistake, index) => (
            <li key={`${index} ${mistake}`} className="wrap-anywhere">
              {mistake}
            </li>
          ))}
        </ul>
      </Banner>
    );
  return (
    <>
      <Banner tone="good" title={t.fine}>
        {t.summary(added.length, changed.length, same)}
      </Banner>
      {changed.map(({ id, changes }) => (
        <DrawerSection key={id} title={t.changes(id)}>
          <ul className="text-sm">
            {changes.map(({ field, before, after, part }) => (
              <li key={field} className="wrap-anywhere">
                <span className="text-muted">{field}:</span> {before ?? t.none} → {after ?? t.none}{' '}
                {part !== null && <span className="figures text-muted">({signedPercent(part)})</span>}
              </li>
            ))}
          </ul>
        </DrawerSection>
      ))}
      {added.map(({ id, price }) => (
        <DrawerSection key={id} title={t.adds(id)}>
          <PriceRow prices={price} />
        </DrawerSection>
      ))}
      {absent.length > 0 && (
        <DrawerSection title={t.absent}>
          <p className="text-sm text-muted wrap-anywhere">{absent.join(', ')}</p>
        </DrawerSection>
      )}
    </>
  );
}

function signedPercent(part: number): string {
  return `${part < 0 ? '−' : '+'}${formatPercent(Math.abs(part))}`;
}
