import { Eye, EyeOff } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { kit as t } from '../strings/index.ts';
import type { ControlWiring } from './field.tsx';
import { TextInput } from './text-input.tsx';

interface PasswordInputProps extends ControlWiring {
  readonly value: string;
  readonly onText: (text: string) => void;
  /** Whether password managers should suggest a new password rather than fill in the saved one. */
  readonly isNew?: boolean;
}

/** Password input with a button to show the password. */
export function PasswordInput({ isNew = false, ...rest }: PasswordInputProps): JSX.Element {
  const [isShown, setIsShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <span className="relative block">
      <TextInput
        {...rest}
        type={isShown ? 'text' : 'password'}
        required
        autoComplete={isNew ? 'new-password' : 'current-password'}
        spellCheck={false}
        className="pr-10"
      />
      <button
        type="button"
        aria-label={isShown ? t.hidePassword : t.showPassword}
        onClick={() => setIsShown(!isShown)}
        className="absolute top-1/2 right-1 -translate-y-1/2 rounded-md p-2 text-muted hover:text-ink"
      >
        <Icon aria-hidden="true" className="size-4" />
      </button>
    </span>
  );
}
