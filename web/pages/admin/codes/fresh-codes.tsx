import { useRef } from 'react';
import type { JSX } from 'react';
import { adminCodes } from '../../../strings/index.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { ShowOnceDialog } from '../../../ui/show-once-dialog.tsx';

const t = adminCodes.fresh;

/** A code just created. It exists only in the memory of this page. */
export interface FreshCode {
  readonly id: string;
  readonly code: string;
}

/** Dialog with the new codes, to copy or download as the same CSV as `promo create --csv`. Codes contain no commas or quotes. */
export function FreshCodes({ codes, onStored }: { readonly codes: readonly FreshCode[]; readonly onStored: () => void }): JSX.Element {
  const list = useRef<HTMLPreElement>(null);
  const text = codes.map(({ code }) => code).join('\n');
  const lines = ['id,code', ...codes.map(({ id, code }) => `${id},${code}`), ''];
  return (
    <ShowOnceDialog words={t} file={{ label: t.download, name: 'codes.csv', type: 'text/csv', text: lines.join('\n') }} onStored={onStored}>
      <div className="flex items-start gap-2 rounded-md border border-line bg-sunken px-3 py-2">
        <pre ref={list} tabIndex={0} aria-label={t.what} className="max-h-64 min-w-0 flex-1 overflow-auto font-mono text-[0.8125rem]">
          {text}
        </pre>
        <CopyButton text={text} what={t.what} source={list} isLabelled />
      </div>
    </ShowOnceDialog>
  );
}
