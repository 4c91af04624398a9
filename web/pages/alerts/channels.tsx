import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useState } from 'react';
import { api, call } from '../../api.ts';
import { alerts as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmButton } from '../../ui/confirm-button.tsx';
import { Field } from '../../ui/field.tsx';
import { TextInput } from '../../ui/text-input.tsx';
import { toast } from '../../ui/toast.tsx';
import { isReadOnly } from '../../viewed.ts';
import { refreshAlerts } from './queries.ts';
import type { AlertsContent } from './queries.ts';
import { SigningSecret } from './signing-secret.tsx';

/** Channels for alerts: email and webhook. */
export function Channels({ content }: { readonly content: AlertsContent }): JSX.Element {
  const { mail } = content;
  return (
    <Card title={t.channels.title}>
      <div className="grid gap-8 lg:grid-cols-2">
        <section>
          <h3 className="text-sm font-semibold">{t.channels.mail}</h3>
          <p className="mt-1 mb-3 text-sm wrap-anywhere text-muted">
            {t.channels.mailTo(mail.to)} {!mail.isConfigured && t.channels.noMail}{' '}
            {!mail.isVerified && !isReadOnly && (
              <Link to="/settings" className="link">
                {t.form.unverified}
              </Link>
            )}
          </p>
          <TestButton channel="mail" label={t.channels.testMail} isDisabled={!mail.isVerified} />
        </section>
        <Webhook content={content} />
      </div>
    </Card>
  );
}

function Webhook({ content: { webhook } }: { readonly content: AlertsContent }): JSX.Element {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [secret, setSecret] = useState<string>();
  const save = useMutation({
    mutationFn: () => call(api.alerts.webhook.$put({ json: { url } })),
    onSuccess: async (saved) => {
      setUrl(saved.url);
      setSecret(saved.secret ?? undefined);
      toast('good', t.channels.saved);
      await refreshAlerts();
    },
  });
  return (
    <section className="min-w-0">
      <h3 className="text-sm font-semibold">{t.channels.webhook}</h3>
      <form
        className="mt-2 flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field label={t.channels.url} hint={t.channels.webhookHint} error={save.error?.message}>
          {(wiring) => <TextInput {...wiring} type="url" required placeholder="https://" value={url} onText={setUrl} />}
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button type="submit" isBusy={save.isPending} disabled={url === '' || url === webhook?.url}>
            {t.channels.save}
          </Button>
          {webhook !== null && <WebhookButtons onSecret={setSecret} onRemoved={() => setUrl('')} />}
        </div>
      </form>
      {secret !== undefined && <SigningSecret secret={secret} onStored={() => setSecret(undefined)} />}
    </section>
  );
}

interface WebhookButtonsProps {
  readonly onSecret: (secret: string) => void;
  readonly onRemoved: () => void;
}

function WebhookButtons({ onSecret, onRemoved }: WebhookButtonsProps): JSX.Element {
  const renew = async (): Promise<undefined> => {
    const { secret } = await call(api.alerts.webhook.secret.$post());
    onSecret(secret);
  };
  const remove = async (): Promise<string> => {
    await call(api.alerts.webhook.$delete());
    onRemoved();
    await refreshAlerts();
    return t.channels.removed;
  };
  return (
    <>
      <TestButton channel="webhook" label={t.channels.testWebhook} isDisabled={false} />
      <ConfirmButton
        size="md"
        variant="secondary"
        label={t.channels.renew}
        title={t.channels.renewTitle}
        text={t.channels.renewText}
        onConfirm={renew}
      />
      <ConfirmButton size="md" label={t.channels.remove} title={t.channels.removeTitle} text={t.channels.removeText} onConfirm={remove} />
    </>
  );
}

interface TestButtonProps {
  readonly channel: 'mail' | 'webhook';
  readonly label: string;
  readonly isDisabled: boolean;
}

function TestButton({ channel, label, isDisabled }: TestButtonProps): JSX.Element {
  const { mutate, isPending } = useMutation({
    mutationFn: () => call(api.alerts.test.$post({ json: { channel } })),
    onSuccess: async ({ status, problem }) => {
      if (status === 'sent') toast('good', t.channels.testSent);
      else toast('bad', problem ?? t.log.statuses[status]);
      await refreshAlerts();
    },
    onError: (error) => toast('bad', error.message),
  });
  return (
    <Button isChange isBusy={isPending} disabled={isDisabled} onClick={() => mutate()}>
      {label}
    </Button>
  );
}
