import { useBlocker } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { freshSecret as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { envFile, snippetsFor } from './snippets.ts';

/** A secret that was just made. It is nowhere but in this page's memory. */
export interface Fresh {
  readonly name: string;
  readonly secret: string;
}

/** Shows a secret the one time that it can be shown. It closes when somebody says that it is stored; leaving warns. */
export function FreshSecret({ fresh, onStored }: { readonly fresh: Fresh; readonly onStored: () => void }): JSX.Element {
  const [isStored, setStored] = useState(false);
  const [snippetId, setSnippetId] = useState('curl');
  useBlocker({ shouldBlockFn: () => !window.confirm(t.leave), enableBeforeUnload: true });
  const actions = (
    <>
      <Button onClick={() => download(fresh)}>
        <Download aria-hidden="true" />
        {t.download}
      </Button>
      <Button variant="primary" disabled={!isStored} onClick={onStored}>
        {t.done}
      </Button>
    </>
  );
  return (
    <Dialog isOpen isModal width="lg" title={t.title} text={t.text} onClose={() => isStored && onStored()} actions={actions}>
      <div className="flex flex-col gap-4">
        <div className="rounded-md border border-line bg-sunken px-3 py-2">
          <Copyable text={fresh.secret} what={t.what} isWhole className="w-full justify-between" />
        </div>
        <CodeBlock snippets={snippetsFor(location.origin, fresh.secret)} chosenId={snippetId} onChoose={setSnippetId} />
        <Checkbox label={t.stored} isChecked={isStored} onCheck={setStored} />
      </div>
    </Dialog>
  );
}

function download({ name, secret }: Fresh): void {
  const address = URL.createObjectURL(new Blob([envFile(location.origin, name, secret)], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = '.env';
  link.click();
  URL.revokeObjectURL(address);
}
