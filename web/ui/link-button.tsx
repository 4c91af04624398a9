import { createLink } from '@tanstack/react-router';
import type { ComponentProps, JSX } from 'react';
import { isHiddenWhileViewing } from '../viewed.ts';
import { buttonClass } from './button.tsx';
import type { ButtonLook } from './button.tsx';
import { cx } from './cx.ts';

function ButtonAnchor({ variant, size, className, children, ...rest }: ComponentProps<'a'> & ButtonLook): JSX.Element | null {
  if (isHiddenWhileViewing(rest.href ?? '')) return null;
  return (
    <a {...rest} className={cx(buttonClass({ variant, size }), className)}>
      {children}
    </a>
  );
}

/** A `Link` that looks like a button. It is hidden if its page does not exist while viewing another account. */
export const LinkButton = createLink(ButtonAnchor);
