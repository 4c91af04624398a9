import type { ComponentProps, JSX } from 'react';
import { cx } from './cx.ts';

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange'> & { readonly onText?: (text: string) => void };

/** Several lines of text, each in its own direction. Grows with its content if the browser supports that. */
export function TextArea({ className, onText, ...rest }: TextAreaProps): JSX.Element {
  return (
    <textarea
      rows={3}
      dir="auto"
      {...rest}
      onChange={(event) => onText?.(event.target.value)}
      className={cx('control field-sizing-content max-h-96 min-h-20 resize-y', className)}
    />
  );
}
