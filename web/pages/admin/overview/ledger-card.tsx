import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatCount } from '../../../numbers.ts';
import { adminOverview as t } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Banner } from '../../../ui/banner.tsx';
import { Card } from '../../../ui/card.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Table } from '../../../ui/table.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { booksQuery, type Books } from './queries.ts';

/** Result of the last ledger verification. */
export function LedgerCard(): JSX.Element {
  const { data: books, error, refetch } = useQuery(booksQuery);
  return (
    <Card className="mt-6" title={t.ledger} hint={t.ledgerHint}>
      {books === undefined ? (
        <LoadingOrError error={error} onRetry={() => void refetch()} className="h-10" />
      ) : (
        <VerificationResult books={books} />
      )}
    </Card>
  );
}

/** Banner at the top of the page if the ledger verification failed. */
export function LedgerAlarm(): JSX.Element | null {
  const { data } = useQuery(booksQuery);
  const broken = data?.verified?.broken ?? [];
  if (broken.length === 0) return null;
  return (
    <div className="mb-6">
      <Banner tone="bad" title={t.states.differs}>
        {broken.map(({ name }) => name).join('; ')}
      </Banner>
    </div>
  );
}

function VerificationResult({ books: { verified, waiting } }: { readonly books: Books }): JSX.Element {
  if (verified === null)
    return (
      <p className="text-sm text-muted">
        <Badge>{t.states.never}</Badge> {t.neverText}
      </p>
    );
  const { atMs, rules, broken } = verified;
  const isConsistent = broken.length === 0;
  return (
    <>
      <p className="text-sm">
        <Badge tone={isConsistent ? 'good' : 'bad'}>{isConsistent ? t.states.ok : t.states.differs}</Badge>{' '}
        {isConsistent ? t.verifiedAt(rules) : t.brokenAt(broken.length, rules)} <DateTime atMs={atMs} precision="second" />.{' '}
        {waiting > 0 && t.waiting(formatCount(waiting))}
      </p>
      {!isConsistent && (
        <div className="mt-4">
          <Table
            caption={t.broken}
            columns={[
              { id: 'rule', header: t.rule, cell: ({ name }) => name },
              {
                id: 'difference',
                header: t.difference,
                align: 'right',
                cell: ({ difference }) => <span className="figures">{difference}</span>,
              },
              {
                id: 'places',
                header: t.places,
                cell: ({ places }) => <code className="font-mono text-xs wrap-anywhere">{places.join(', ')}</code>,
              },
            ]}
            rows={broken}
            rowId={({ name }) => name}
            empty={{ title: t.states.ok }}
          />
        </div>
      )}
    </>
  );
}
