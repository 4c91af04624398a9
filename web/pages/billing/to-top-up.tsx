import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { billing as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { billingQuery, canPay } from './queries.ts';

/** Where on the page money is added. */
export const TOP_UP_ID = 'top-up';

/** The next step where there is no money yet, and where some can be paid in. */
export function ToTopUp(): JSX.Element | null {
  const { data } = useQuery(billingQuery);
  if (data !== undefined && !canPay(data)) return null;
  return (
    <a href={`#${TOP_UP_ID}`} className={buttonClass({})}>
      {t.topUp.title}
    </a>
  );
}
