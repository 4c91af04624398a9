import type { JSX } from 'react';
import { billing as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';

/** Where on the page money is added. */
export const TOP_UP_ID = 'top-up';

/** The next step where there is no money yet. */
export function ToTopUp(): JSX.Element {
  return (
    <a href={`#${TOP_UP_ID}`} className={buttonClass({})}>
      {t.topUp.title}
    </a>
  );
}
