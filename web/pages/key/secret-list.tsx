import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { key as t, keys } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { refreshKeys } from '../keys/queries.ts';
import type { Key, KeyPageContent } from '../keys/queries.ts';

/** The valid secrets, when each was last used, and a button to end a rotation's overlap. */
export function SecretList({ content: { key } }: { readonly content: KeyPageContent }): JSX.Element {
  return (
    <Card
      title={t.secrets.title}
      hint={t.secrets.hint}
      actions={key.secrets.length > 1 && <EndOverlap id={key.id} />}
      className="lg:col-span-2"
    >
      <ul className="divide-y divide-line">
        {key.secrets.map((secret) => (
          <Secret key={`${secret.shown} ${secret.createdAtMs}`} secret={secret} />
        ))}
      </ul>
    </Card>
  );
}

function Secret({ secret }: { readonly secret: Key['secrets'][number] }): JSX.Element {
  const { shown, createdAtMs, expiresAtMs, usedAtMs, usedFrom } = secret;
  return (
    <li className="flex flex-wrap items-center gap-x-5 gap-y-1 py-2.5 text-sm first:pt-0 last:pb-0">
      <code className="font-mono text-[0.8125rem]">{shown}</code>
      {expiresAtMs === null ? (
        <Badge tone="good">{t.secrets.newest}</Badge>
      ) : (
        <Badge tone="accent">
          {t.secrets.until} <DateTime atMs={expiresAtMs} />
        </Badge>
      )}
      <span className="text-muted">
        {t.created} <DateTime atMs={createdAtMs} />
      </span>
      <span className="lg:ml-auto">
        {usedAtMs === null ? (
          <span className="text-muted">{t.secrets.neverUsed}</span>
        ) : (
          <>
            {t.secrets.used} <RelativeTime atMs={usedAtMs} /> {usedFrom !== null && keys.from(usedFrom)}
          </>
        )}
      </span>
    </li>
  );
}

function EndOverlap({ id }: { readonly id: string }): JSX.Element {
  const [isConfirming, setConfirming] = useState(false);
  const end = async (): Promise<string> => {
    await call(api.keys[':id']['end-overlap'].$post({ param: { id }, query: {} }));
    await refreshKeys();
    return t.secrets.ended;
  };
  return (
    <>
      <Button size="sm" isChange onClick={() => setConfirming(true)}>
        {t.secrets.endOverlap}
      </Button>
      <ConfirmDialog
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t.secrets.endTitle}
        text={t.secrets.endText}
        action={t.secrets.endAction}
        onConfirm={end}
      />
    </>
  );
}
