import type { JSX } from 'react';
import { alerts } from '../../strings/index.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { ShowOnceDialog } from '../../ui/show-once-dialog.tsx';

const t = alerts.channels.secret;

/** Shows the secret that signs the requests of a webhook. */
export function SigningSecret({ secret, onStored }: { readonly secret: string; readonly onStored: () => void }): JSX.Element {
  return (
    <ShowOnceDialog words={t} width="lg" onStored={onStored}>
      <div className="rounded-md border border-line bg-sunken px-3 py-2">
        <Copyable text={secret} what={t.what} isWhole className="w-full justify-between" />
      </div>
    </ShowOnceDialog>
  );
}
