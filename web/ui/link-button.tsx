import { createLink } from '@tanstack/react-router';
import type { ComponentProps, JSX } from 'react';
import { isOutOfView } from '../viewed.ts';
import { buttonClass } from './button.tsx';
import type { ButtonLook } from './button.tsx';
import { cx } from './cx.ts';

function ButtonAnchor({ variant, size, className, children, ...rest }: ComponentProps<'a'> & ButtonLook): JSX.Element | null {
  if (isOutOfView(rest.href ?? '')) return null;
  return (
    <a {...rest} className={cx(buttonClass({ ...(variant && { variant }), ...(size && { size }) }), className)}>
      {children}
    </a>
  );
}

/** A link to a page of the dashboard that looks like a button; takes what `Link` takes. It is not there where the page is not. */
export const LinkButton = createLink(ButtonAnchor);
