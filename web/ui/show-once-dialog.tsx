import { useBlocker } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { JSX, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import { Dialog } from './dialog.tsx';

interface DownloadFile {
  readonly label: string;
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

interface ShowOnceDialogProps {
  readonly words: {
    readonly title: string;
    readonly text: string;
    readonly stored: string;
    readonly done: string;
    readonly leave: string;
  };
  readonly file?: DownloadFile;
  readonly width?: 'md' | 'lg';
  readonly onStored: () => void;
  readonly children: ReactNode;
}

/** Shows a secret that cannot be shown again. It closes only after the user confirms having stored it; leaving the page warns. */
export function ShowOnceDialog({ words: t, file, width = 'md', onStored, children }: ShowOnceDialogProps): JSX.Element {
  const [isStored, setStored] = useState(false);
  useBlocker({ shouldBlockFn: () => !window.confirm(t.leave), enableBeforeUnload: true });
  const actions = (
    <>
      {file !== undefined && (
        <Button onClick={() => download(file)}>
          <Download aria-hidden="true" />
          {file.label}
        </Button>
      )}
      <Button variant="primary" disabled={!isStored} onClick={onStored}>
        {t.done}
      </Button>
    </>
  );
  return (
    <Dialog isOpen isModal width={width} title={t.title} text={t.text} onClose={() => isStored && onStored()} actions={actions}>
      <div className="flex flex-col gap-4">
        {children}
        <Checkbox label={t.stored} isChecked={isStored} onCheck={setStored} />
      </div>
    </Dialog>
  );
}

function download({ name, type, text }: DownloadFile): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
