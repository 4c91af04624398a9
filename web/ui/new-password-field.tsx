import type { JSX } from 'react';
import { isCommonPassword, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../src/dashboard/auth/passwords.ts';
import { newPassword as t } from '../strings/index.ts';
import { cx } from './cx.ts';
import { Field } from './field.tsx';
import { PasswordInput } from './password-input.tsx';

interface NewPasswordFieldProps {
  readonly label: string;
  readonly value: string;
  /** The person's address, which is easy to guess. */
  readonly email?: string | undefined;
  readonly error: string | undefined;
  readonly onText: (text: string) => void;
}

/** From this length on, guessing takes too long to be worth trying. */
const CHARACTERS_GOOD = 16;

/** Input for a new password. It is judged by the server's rules while it is typed; only the server knows which ones were stolen. */
export function NewPasswordField({ label, value, email = '', error, onText }: NewPasswordFieldProps): JSX.Element {
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} hint={t.hint} error={error}>
        {(wiring) => <PasswordInput {...wiring} isNew value={value} onText={onText} />}
      </Field>
      <Strength length={value.length} verdict={judge(value, email)} />
    </div>
  );
}

type Verdict = keyof typeof t.verdicts;

function judge(password: string, email: string): Verdict {
  if (password.length < PASSWORD_LENGTH_MIN) return 'short';
  if (password.length > PASSWORD_LENGTH_MAX) return 'long';
  if (isCommonPassword(password, email)) return 'easy';
  return password.length < CHARACTERS_GOOD ? 'enough' : 'good';
}

const TONES: Readonly<Record<Verdict, string>> = { short: 'bg-bad', long: 'bg-bad', easy: 'bg-bad', enough: 'bg-warn', good: 'bg-good' };

/** Shows how many characters are missing. Screen readers hear the verdict, and only when it changes: not each key. */
function Strength({ length, verdict }: { readonly length: number; readonly verdict: Verdict }): JSX.Element {
  const isEmpty = length === 0;
  return (
    <>
      <p role="status" className="sr-only">
        {isEmpty ? '' : t.verdicts[verdict]}
      </p>
      {!isEmpty && (
        <div aria-hidden="true" className="flex items-center gap-3">
          <div className="h-1.5 min-w-16 flex-1 forced-color-adjust-none overflow-hidden rounded-full bg-sunken ring-1 ring-line">
            <div className={cx('h-full', TONES[verdict])} style={{ width: `${Math.min(1, length / CHARACTERS_GOOD) * 100}%` }} />
          </div>
          <p className="text-xs text-muted">{describe(verdict, length)}</p>
        </div>
      )}
    </>
  );
}

function describe(verdict: Verdict, length: number): string {
  if (verdict === 'short') return t.missing(PASSWORD_LENGTH_MIN - length);
  return verdict === 'long' ? t.tooMany(length - PASSWORD_LENGTH_MAX) : t.verdicts[verdict];
}
