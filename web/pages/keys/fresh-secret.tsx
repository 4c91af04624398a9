import { useState } from 'react';
import type { JSX } from 'react';
import { freshSecret as t } from '../../strings/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { ShowOnceDialog } from '../../ui/show-once-dialog.tsx';
import { envFile, snippetsFor } from './snippets.ts';

/** A secret just created. It exists only in the memory of this page. */
export interface NewSecret {
  readonly name: string;
  readonly secret: string;
}

/** Dialog that shows a new secret and how to use it. */
export function FreshSecret({ fresh, onStored }: { readonly fresh: NewSecret; readonly onStored: () => void }): JSX.Element {
  const [snippetId, setSnippetId] = useState('curl');
  const file = { label: t.download, name: '.env', type: 'text/plain', text: envFile(location.origin, fresh.name, fresh.secret) };
  return (
    <ShowOnceDialog words={t} file={file} width="lg" onStored={onStored}>
      <div className="rounded-md border border-line bg-sunken px-3 py-2">
        <Copyable text={fresh.secret} what={t.what} isWhole className="w-full justify-between" />
      </div>
      <CodeBlock snippets={snippetsFor(location.origin, fresh.secret)} chosenId={snippetId} onChoose={setSnippetId} />
    </ShowOnceDialog>
  );
}
