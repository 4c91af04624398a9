import type { ComponentProps, JSX, MouseEvent } from 'react';
import { shell as t } from '../strings/index.ts';
import { isReadOnly } from '../viewed.ts';
import { cx } from './cx.ts';

export interface ButtonLook {
  readonly variant?: 'primary' | 'secondary' | 'quiet' | 'danger' | undefined;
  readonly size?: 'sm' | 'md' | 'lg' | undefined;
}

export type ButtonProps = ComponentProps<'button'> &
  ButtonLook & {
    readonly isBusy?: boolean;
    /** The button changes the account. Default: true for primary, danger and submit buttons. */
    readonly isChange?: boolean;
  };

/**
 * A button. While busy it ignores presses and tells screen readers so. Unlike a disabled button, it keeps the keyboard focus.
 * While an operator views another account, buttons that would change it are disabled.
 */
export function Button({ variant, size, isBusy = false, isChange, className, children, ...rest }: ButtonProps): JSX.Element {
  const changes = isChange ?? (variant === 'primary' || variant === 'danger' || rest.type === 'submit');
  return (
    <button
      type="button"
      {...rest}
      {...(isReadOnly && changes && { disabled: true, title: t.viewed.owners })}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? ignore : rest.onClick}
      className={cx(buttonClass({ variant, size }), className)}
    >
      {isBusy && <Spinner />}
      {children}
    </button>
  );
}

/** Ignores a press, including a form submission by Enter. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
}

const VARIANTS = {
  primary: 'bg-accent text-accent-ink border-transparent hover:bg-accent-strong',
  secondary: 'bg-raised text-ink border-line-strong hover:bg-hover',
  quiet: 'bg-transparent text-ink border-transparent hover:bg-hover',
  danger: 'bg-raised text-bad border-bad hover:bg-bad-soft',
} as const;

const SIZES = { sm: 'h-8 px-2.5 text-sm gap-1.5', md: 'h-9 px-3.5 text-sm gap-2', lg: 'h-11 px-5 text-base gap-2' } as const;

/** Returns the classes of a button, for links that look like one. */
export function buttonClass({ variant = 'secondary', size = 'md' }: ButtonLook): string {
  return cx(
    'inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none transition-colors print:hidden',
    'disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0',
    VARIANTS[variant],
    SIZES[size],
  );
}

function Spinner(): JSX.Element {
  return <span aria-hidden="true" className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent" />;
}
