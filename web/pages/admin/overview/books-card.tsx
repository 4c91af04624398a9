import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatUsd, signOf } from '../../../money.ts';
import { formatCount } from '../../../numbers.ts';
import { adminOverview as t } from '../../../strings/index.ts';
import { Card } from '../../../ui/card.tsx';
import { ErrorState } from '../../../ui/error-state.tsx';
import { Money } from '../../../ui/money.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { booksQuery, type Books } from './queries.ts';

/** What the service owes its users: balances by kind of credit, and holds. */
export function BooksCard(): JSX.Element {
  const { data: books, error, refetch } = useQuery(booksQuery);
  return (
    <Card className="mt-6" title={t.books} hint={t.booksHint}>
      {error === null || books !== undefined ? <Liabilities books={books} /> : <ErrorState error={error} onRetry={() => void refetch()} />}
    </Card>
  );
}

function Liabilities({ books }: { readonly books: Books | undefined }): JSX.Element {
  const { paid, plan, promo, manual } = t.kinds;
  return (
    <div className="stats gap-6 sm:[--stat-width:26%] xl:[--stat-width:13%]">
      <Stat
        label={t.balance}
        value={books && <Money usd={books.balanceUsd} />}
        hint={books && (signOf(books.debtsUsd) === 0 ? t.noDebts : t.debts(formatUsd(books.debtsUsd)))}
      />
      <Stat label={paid} value={books && <Money usd={books.paidUsd} />} />
      <Stat label={plan} value={books && <Money usd={books.planUsd} />} />
      <Stat label={promo} value={books && <Money usd={books.promoUsd} />} />
      <Stat label={manual} value={books && <Money usd={books.manualUsd} />} />
      <Stat label={t.held} value={books && <Money usd={books.heldUsd} />} hint={books && t.holds(formatCount(books.holds))} />
    </div>
  );
}
