import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef } from 'react';
import type { JSX, ReactNode } from 'react';
import { undoStep, useBack } from '../back-button.ts';
import { kit as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { useTitleDetail } from './document-title.ts';

interface DrawerProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Title of the document while it is open, if its own does not say which item it shows. */
  readonly documentTitle?: string | undefined;
  readonly text?: ReactNode;
  /** Those on the right are open in the URL, the navigation on the left is not. */
  readonly side?: 'left' | 'right';
  readonly width?: 'narrow' | 'wide';
  readonly children: ReactNode;
}

/** A panel at the edge of the page, such as the details of a row. Keep the open item in the URL: `?id=…`. */
export function Drawer({
  isOpen,
  onClose,
  title,
  documentTitle,
  text,
  side = 'right',
  width = 'wide',
  children,
}: DrawerProps): JSX.Element {
  useTitleDetail(isOpen && side === 'right' ? (documentTitle ?? title) : undefined);
  const popup = useRef<HTMLDivElement>(null);
  const isInUrl = side === 'right';
  useBack({ isOpen, inside: popup, isInUrl: () => isInUrl, onBack: onClose });
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (open) return;
        if (isInUrl) undoStep(onClose);
        else onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fade fixed inset-0 z-40 bg-veil print:hidden" />
        <BaseDialog.Popup
          ref={popup}
          // Reading starts at the top, but the first control may be far down.
          initialFocus={popup}
          className={cx(
            // In print it follows the page that it covers on screen.
            'fade fixed inset-y-0 z-50 flex w-full flex-col border-line bg-raised shadow-float outline-none print:static print:max-w-none',
            side === 'right'
              ? 'right-0 border-l data-ending-style:translate-x-4 data-starting-style:translate-x-4'
              : 'left-0 border-r data-ending-style:-translate-x-4 data-starting-style:-translate-x-4',
            width === 'wide' ? 'max-w-2xl' : 'max-w-[17rem]',
          )}
        >
          <header className="flex items-start gap-4 border-b border-line px-5 py-4">
            <div className="min-w-0 flex-1">
              <BaseDialog.Title className="text-lg font-semibold break-words">{title}</BaseDialog.Title>
              {text !== undefined && <BaseDialog.Description className="text-sm text-muted">{text}</BaseDialog.Description>}
            </div>
            <BaseDialog.Close
              aria-label={t.close}
              className="-m-1.5 rounded-md p-1.5 text-muted hover:bg-hover hover:text-ink print:hidden"
            >
              <X aria-hidden="true" className="size-5" />
            </BaseDialog.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4 print:overflow-visible">{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
