import { useState } from 'react';
import type { JSX } from 'react';
import { alerts as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** Shows the secret of a webhook the one time that it can be shown. */
export function SigningSecret({ secret, onStored }: { readonly secret: string; readonly onStored: () => void }): JSX.Element {
  const [isStored, setStored] = useState(false);
  const actions = (
    <Button variant="primary" disabled={!isStored} onClick={onStored}>
      {t.channels.done}
    </Button>
  );
  return (
    <Dialog
      isOpen
      isModal
      width="lg"
      title={t.channels.secretTitle}
      text={t.channels.secretText}
      onClose={() => isStored && onStored()}
      actions={actions}
    >
      <div className="flex flex-col gap-4">
        <div className="rounded-md border border-line bg-sunken px-3 py-2">
          <Copyable text={secret} what={t.channels.secretWhat} isWhole className="w-full justify-between" />
        </div>
        <Checkbox label={t.channels.secretStored} isChecked={isStored} onCheck={setStored} />
      </div>
    </Dialog>
  );
}
