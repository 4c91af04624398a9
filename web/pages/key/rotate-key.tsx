import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { key as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { RadioCards } from '../../ui/radio-cards.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { useZone } from '../../zone.ts';
import type { NewSecret } from '../keys/fresh-secret.tsx';
import { expiryOf } from '../keys/key-draft.ts';
import { refreshKeys } from '../keys/queries.ts';

const OVERLAPS = ['0', '3600000', '86400000', '604800000', 'date'] as const;
type Overlap = (typeof OVERLAPS)[number];

interface RotateKeyProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onRotated: (fresh: NewSecret) => void;
}

/** Dialog to rotate the key: asks how long the old secret keeps working and creates a new one. */
export function RotateKey({ id, onClose, onRotated }: RotateKeyProps): JSX.Element {
  const zone = useZone();
  const [overlap, setOverlap] = useState<Overlap>('86400000');
  const [day, setDay] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call(api.keys[':id'].rotate.$post({ param: { id }, json: { overlapMs: overlapMsOf(overlap, day, zone) } })),
    onSuccess: async (fresh) => {
      onRotated(fresh);
      await refreshKeys();
    },
  });
  const hints: Readonly<Partial<Record<Overlap, string>>> = t.rotation.hints;
  const actions = (
    <>
      <Button variant="quiet" disabled={isPending} onClick={onClose}>
        {t.rotation.cancel}
      </Button>
      <Button variant="primary" isBusy={isPending} disabled={overlap === 'date' && day === ''} onClick={() => mutate()}>
        {t.rotation.action}
      </Button>
    </>
  );
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isBusy={isPending}
      title={t.rotation.title}
      text={t.rotation.text}
      actions={actions}
      error={error?.message}
    >
      <div className="flex flex-col gap-4">
        <RadioCards
          legend={t.rotation.overlap}
          value={overlap}
          cards={OVERLAPS.map((value) => ({ value, label: t.rotation.choices[value], hint: hints[value] }))}
          onChoose={setOverlap}
        />
        {overlap === 'date' && (
          <Field label={t.rotation.day} hint={zone}>
            {(wiring) => <TextInput {...wiring} type="date" value={day} onText={setDay} />}
          </Field>
        )}
      </div>
    </Dialog>
  );
}

/** Returns how long the old secret keeps working. A chosen day counts to its end. */
function overlapMsOf(overlap: Overlap, day: string, zone: string): number {
  if (overlap !== 'date') return Number(overlap);
  return Math.max(0, (expiryOf({ expiry: 'date', expiryDay: day }, zone) ?? 0) - Date.now());
}
