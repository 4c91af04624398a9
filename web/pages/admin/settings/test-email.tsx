import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { accountQuery } from '../../../queries.ts';
import { adminSettings } from '../../../strings/index.ts';
import { Banner } from '../../../ui/banner.tsx';
import { Button } from '../../../ui/button.tsx';

const t = adminSettings.mail;

/** Sends the operator a test email and shows the mail server's reply. */
export function TestEmail({ hasMail }: { readonly hasMail: boolean }): JSX.Element {
  const { data: account } = useQuery(accountQuery);
  const { mutate, data, error, isPending } = useMutation({ mutationFn: () => call(api.admin.settings['test-letter'].$post()) });
  return (
    <div className="flex flex-col items-start gap-3 text-sm">
      <p className="break-words text-muted">{hasMail ? t.text(account?.email ?? '') : t.none}</p>
      <Button disabled={!hasMail} isBusy={isPending} onClick={() => mutate()}>
        {t.send}
      </Button>
      {error !== null && <Banner tone="bad" title={error.message} />}
      {error === null && data !== undefined && (
        <Banner tone={data.isSent ? 'good' : 'bad'} title={data.isSent ? t.sent : t.failed}>
          <code className="font-mono text-xs break-all">{data.answer}</code>
        </Banner>
      )}
    </div>
  );
}
