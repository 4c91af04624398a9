import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { useId } from 'react';
import type { JSX, ReactNode } from 'react';
import { isReadOnly } from '../viewed.ts';

interface SwitchProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}

/** On or off, with immediate effect. In a form that is saved later, use a checkbox. */
export function Switch({ label, hint, isOn, isDisabled = false, onSwitch }: SwitchProps): JSX.Element {
  const id = useId();
  return (
    <div className="flex items-start justify-between gap-4">
      <span className="min-w-0">
        <span id={id} className="block text-sm font-medium">
          {label}
        </span>
        {hint !== undefined && (
          <span id={`${id}-hint`} className="block text-xs text-muted">
            {hint}
          </span>
        )}
      </span>
      <BaseSwitch.Root
        checked={isOn}
        disabled={isDisabled || isReadOnly}
        onCheckedChange={onSwitch}
        aria-labelledby={id}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        className="relative h-6 w-10 shrink-0 forced-color-adjust-none rounded-full border border-line-strong bg-sunken transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55"
      >
        <BaseSwitch.Thumb className="absolute top-[3px] left-[3px] size-4 rounded-full bg-muted transition-transform data-checked:translate-x-4 data-checked:bg-accent-ink" />
      </BaseSwitch.Root>
    </div>
  );
}
