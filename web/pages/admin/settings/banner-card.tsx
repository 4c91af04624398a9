import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { accountQuery, queryClient } from '../../../queries.ts';
import { adminSettings as t } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Field } from '../../../ui/field.tsx';
import { labelled } from '../../../ui/filter-select.tsx';
import { fieldError, Form } from '../../../ui/form.tsx';
import { Select } from '../../../ui/select.tsx';
import { TextArea } from '../../../ui/text-area.tsx';
import { toast } from '../../../ui/toast.tsx';
import { refreshService, type Service } from './queries.ts';

const CHARS_MAX = 300;
const TONES = ['info', 'warning'] as const;

/** Form for the announcement shown to all users. */
export function BannerCard({ banner }: { readonly banner: Service['banner'] }): JSX.Element {
  const [text, setText] = useState(banner?.text ?? '');
  const [tone, setTone] = useState<(typeof TONES)[number]>(banner?.tone ?? 'info');
  const set = useMutation({
    mutationFn: () => call(api.admin.settings.banner.$put({ json: { text, tone } })),
    onSuccess: () => done(t.banner.wasSet),
  });
  const clear = useMutation({
    mutationFn: () => call(api.admin.settings.banner.$delete()),
    onSuccess: () => done(t.banner.cleared),
    onError: (error) => toast('bad', error.message),
  });
  const isShown = text.trim() === banner?.text && tone === banner.tone;
  const action = (
    <Button size="sm" isBusy={clear.isPending} onClick={() => clear.mutate()}>
      {t.banner.clear}
    </Button>
  );
  return (
    <Card title={t.banner.title} hint={t.banner.hint} actions={banner === null ? undefined : action}>
      <Form
        action={t.banner.set}
        isBusy={set.isPending}
        isDisabled={text.trim() === '' || isShown}
        error={set.error}
        fields={['text']}
        onSubmit={() => set.mutate()}
      >
        <Field label={t.banner.label} hint={t.banner.left(CHARS_MAX - text.length)} error={fieldError(set.error, 'text')}>
          {(wiring) => (
            <TextArea {...wiring} rows={2} maxLength={CHARS_MAX} value={text} onText={(typed) => setText(typed.replaceAll('\n', ' '))} />
          )}
        </Field>
        <Field label={t.banner.tone}>
          {(wiring) => <Select {...wiring} value={tone} choices={labelled(TONES, t.banner.tones)} onChoose={setTone} />}
        </Field>
      </Form>
    </Card>
  );
}

async function done(message: string): Promise<void> {
  toast('good', message);
  await Promise.all([refreshService(), queryClient.invalidateQueries({ queryKey: accountQuery.queryKey })]);
}
