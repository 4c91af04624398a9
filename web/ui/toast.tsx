import { Toast } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';

const manager = Toast.createToastManager();
const TIMEOUT_MS = 6000;

/** Shows a short message of success or failure at the edge of the page and reads it to screen readers. */
export function toast(tone: 'good' | 'bad', title: string, description?: string): void {
  manager.add({ type: tone, title, description, timeout: TIMEOUT_MS, priority: tone === 'bad' ? 'high' : 'low' });
}

/** Renders the messages of `toast`; used once, around the whole dashboard. */
export function ToastProvider({ children }: { readonly children: ReactNode }): JSX.Element {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-3 bottom-3 left-3 z-50 flex flex-col gap-2 sm:left-auto sm:w-96">
          <Toasts />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Toasts(): JSX.Element[] {
  const { toasts } = Toast.useToastManager();
  return toasts.map((item) => (
    <Toast.Root
      key={item.id}
      toast={item}
      // The library hides urgent toasts from screen readers until focused, because it announces them itself. Users must also be able to find
      // them by browsing.
      aria-hidden={false}
      className="fade rounded-lg border border-line bg-raised p-3 text-sm shadow-float data-limited:hidden data-[type=bad]:border-bad"
    >
      <Toast.Content className="flex items-start gap-2.5">
        {item.type === 'bad' ? (
          <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-bad" />
        ) : (
          <CircleCheck aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-good" />
        )}
        <div className="min-w-0 flex-1 wrap-anywhere">
          <Toast.Title className="font-medium" />
          <Toast.Description className="text-muted" />
        </div>
        {/* The library hides it from screen readers while toasts are stacked. Ours never are, and the keyboard reaches it. */}
        <Toast.Close aria-hidden={false} aria-label={t.dismiss} className="rounded-sm p-0.5 text-muted hover:text-ink">
          <X aria-hidden="true" className="size-4" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
