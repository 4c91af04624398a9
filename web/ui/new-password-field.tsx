import type { JSX } from 'react';
import { newPassword as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { Field } from './field.tsx';
import { PasswordInput } from './password-input.tsx';

interface NewPasswordFieldProps {
  readonly label: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly onText: (text: string) => void;
}

/** Same as on the server. */
const CHARACTERS_MIN = 10;
/** From this length on, guessing takes too long to be worth trying. */
const CHARACTERS_GOOD = 16;

/** Input for a new password. Its strength is judged by length; the server checks it against known leaked passwords. */
export function NewPasswordField({ label, value, error, onText }: NewPasswordFieldProps): JSX.Element {
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} hint={t.hint} error={error}>
        {(wiring) => <PasswordInput {...wiring} isNew value={value} onText={onText} />}
      </Field>
      <Strength length={value.length} />
    </div>
  );
}

function Strength({ length }: { readonly length: number }): JSX.Element {
  const [text, tone] =
    length < CHARACTERS_MIN
      ? ([t.missing(CHARACTERS_MIN - length), 'bg-bad'] as const)
      : length < CHARACTERS_GOOD
        ? ([t.enough, 'bg-warn'] as const)
        : ([t.good, 'bg-good'] as const);
  if (length === 0) return <p role="status" className="sr-only" />;
  return (
    <div className="flex items-center gap-3">
      <div aria-hidden="true" className="h-1.5 flex-1 forced-color-adjust-none overflow-hidden rounded-full bg-sunken ring-1 ring-line">
        <div className={cx('h-full', tone)} style={{ width: `${Math.min(1, length / CHARACTERS_GOOD) * 100}%` }} />
      </div>
      <p role="status" className="text-xs text-muted">
        {text}
      </p>
    </div>
  );
}
