import { useState } from 'react';
import type { JSX } from 'react';
import { shell } from '../strings/index.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ZonePicker } from '../ui/zone-picker.tsx';
import { useZone } from '../zone.ts';

const t = shell.zone;

/** The current time zone, with a dialog to change it. */
export function ZoneLine(): JSX.Element {
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button
        type="button"
        aria-label={`${t.title}: ${zone}`}
        title={zone}
        onClick={() => setOpen(true)}
        className="min-w-0 truncate rounded-sm text-left text-xs text-muted underline decoration-dotted underline-offset-2 hover:text-ink"
      >
        {zone.replaceAll('_', ' ')}
      </button>
      <Dialog isOpen={isOpen} onClose={close} title={t.title} text={t.text} actions={<Button onClick={close}>{t.done}</Button>}>
        <ZonePicker isLabelHidden />
      </Dialog>
    </>
  );
}
