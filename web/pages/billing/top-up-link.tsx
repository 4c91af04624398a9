import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { billing as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { billingQuery, canPay } from './queries.ts';

/** Id of the top-up form on the billing page. */
export const TOP_UP_ID = 'top-up';

/** Link to the top-up form, if users can pay here. */
export function TopUpLink(): JSX.Element | null {
  const { data } = useQuery(billingQuery);
  if (data !== undefined && !canPay(data)) return null;
  return (
    <a href={`#${TOP_UP_ID}`} className={buttonClass({})}>
      {t.topUp.title}
    </a>
  );
}
