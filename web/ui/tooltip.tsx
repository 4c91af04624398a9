import { Tooltip as BaseTooltip } from '@base-ui/react/tooltip';
import type { JSX, ReactElement, ReactNode } from 'react';

/** A few words about a control, on hover and on focus. Never the only place for information: touch screens do not show it. */
export function Tooltip({ text, children }: { readonly text: ReactNode; readonly children: ReactElement }): JSX.Element {
  return (
    <BaseTooltip.Root>
      <BaseTooltip.Trigger render={children} />
      <BaseTooltip.Portal>
        <BaseTooltip.Positioner sideOffset={6} className="z-50">
          <BaseTooltip.Popup className="fade max-w-72 rounded-md bg-ink px-2 py-1 text-xs text-surface shadow-float">
            {text}
          </BaseTooltip.Popup>
        </BaseTooltip.Positioner>
      </BaseTooltip.Portal>
    </BaseTooltip.Root>
  );
}
