import { useBlocker } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useRef, useState } from 'react';
import type { JSX } from 'react';
import { adminCodes } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

const t = adminCodes.fresh;

/** A code that was just made. It is nowhere but in this page's memory. */
export interface FreshCode {
  readonly id: string;
  readonly code: string;
}

/** Shows codes the one time that they can be shown. It closes when somebody says that they are stored; leaving warns. */
export function FreshCodes({ codes, onStored }: { readonly codes: readonly FreshCode[]; readonly onStored: () => void }): JSX.Element {
  const [isStored, setStored] = useState(false);
  const list = useRef<HTMLPreElement>(null);
  const text = codes.map(({ code }) => code).join('\n');
  useBlocker({ shouldBlockFn: () => !window.confirm(t.leave), enableBeforeUnload: true });
  const actions = (
    <>
      <Button onClick={() => download(codes)}>
        <Download aria-hidden="true" />
        {t.download}
      </Button>
      <Button variant="primary" disabled={!isStored} onClick={onStored}>
        {t.done}
      </Button>
    </>
  );
  return (
    <Dialog isOpen isModal title={t.title} text={t.text} onClose={() => isStored && onStored()} actions={actions}>
      <div className="flex flex-col gap-4">
        <div className="flex items-start gap-2 rounded-md border border-line bg-sunken px-3 py-2">
          <pre ref={list} tabIndex={0} aria-label={t.what} className="max-h-64 min-w-0 flex-1 overflow-auto font-mono text-[0.8125rem]">
            {text}
          </pre>
          <CopyButton text={text} what={t.what} source={list} isLabelled />
        </div>
        <Checkbox label={t.stored} isChecked={isStored} onCheck={setStored} />
      </div>
    </Dialog>
  );
}

/** As `promo create --csv` writes it. Codes have neither commas nor quotes. */
function download(codes: readonly FreshCode[]): void {
  const lines = ['id,code', ...codes.map(({ id, code }) => `${id},${code}`)];
  const address = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'codes.csv';
  link.click();
  URL.revokeObjectURL(address);
}
