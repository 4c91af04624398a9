import { useState } from 'react';
import type { JSX } from 'react';
import { envFile, snippetsFor } from '../../snippets.ts';
import { freshSecret as t } from '../../strings/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { ShowOnceDialog } from '../../ui/show-once-dialog.tsx';

/** A secret just created. It exists only in the memory of this page. */
export interface NewSecret {
  readonly name: string;
  readonly secret: string;
  /** A model that the key may call, for code examples. */
  readonly model: string | null;
}

/** For a key that may call no model yet. */
const MODEL = 'sandbox/echo';

/** Dialog that shows a new secret and how to use it. */
export function FreshSecret({ fresh, onStored }: { readonly fresh: NewSecret; readonly onStored: () => void }): JSX.Element {
  const [snippetId, setSnippetId] = useState('curl');
  const file = { label: t.download, name: '.env', type: 'text/plain', text: envFile(fresh.name, fresh.secret) };
  return (
    <ShowOnceDialog words={t} file={file} width="lg" onStored={onStored}>
      <div className="rounded-md border border-line bg-sunken px-3 py-2">
        <Copyable text={fresh.secret} what={t.what} isWhole className="w-full justify-between" />
      </div>
      <CodeBlock
        snippets={snippetsFor({ model: fresh.model ?? MODEL, prompt: t.prompt, secret: fresh.secret })}
        chosenId={snippetId}
        onChoose={setSnippetId}
      />
    </ShowOnceDialog>
  );
}
