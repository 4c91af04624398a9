import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { isMinorStep } from '../../../back-button.ts';
import { compact, type ChangeOf } from '../../../search-params.ts';
import { adminPayments as t } from '../../../strings/index.ts';
import { labelled } from '../../../ui/filter-select.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { CompareView } from './compare-view.tsx';
import { PaymentDrawer } from './drawer.tsx';
import { EventsView } from './events-view.tsx';
import { ListView } from './list-view.tsx';
import { ProblemsView } from './problems-view.tsx';
import { VIEWS, type PaymentsSearch } from './search.ts';

const route = getRouteApi('/app/admin/payments');

/** Payments of all accounts, problems with them, and Stripe's events. */
export function PaymentsPage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { view = 'payments' } = search;
  const go = (change: ChangeOf<PaymentsSearch>): void =>
    void navigate({ search: (old) => compact({ ...old, ...change }), replace: isMinorStep(), resetScroll: false });
  const viewProps = { search, go };
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      <Segmented
        label={t.viewsLabel}
        value={view}
        choices={labelled(VIEWS, t.views)}
        onChoose={(chosen) => void navigate({ search: chosen === 'payments' ? {} : { view: chosen }, replace: isMinorStep() })}
        className="mb-4"
      />
      {(view === 'payments' || view === 'transfers') && <ListView {...viewProps} />}
      {view === 'problems' && <ProblemsView {...viewProps} />}
      {view === 'events' && <EventsView {...viewProps} />}
      {view === 'compare' && <CompareView {...viewProps} />}
      <PaymentDrawer id={search.payment} onClose={() => go({ payment: undefined })} />
    </>
  );
}
