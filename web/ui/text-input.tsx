import type { ComponentProps, JSX } from 'react';
import { cx } from './cx.ts';

type TextInputProps = Omit<ComponentProps<'input'>, 'onChange'> & { readonly onText?: (text: string) => void };

/** One line of text, from right to left if it begins so; `onText` is called with the text itself. */
export function TextInput({ className, onText, ...rest }: TextInputProps): JSX.Element {
  return <input type="text" dir="auto" {...rest} onChange={(event) => onText?.(event.target.value)} className={cx('control', className)} />;
}
