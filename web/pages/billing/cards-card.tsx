import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import { billing as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { cardsQuery, refreshMoney } from './queries.ts';
import type { SavedCard } from './queries.ts';

/** Cards that the payment service stores for this account. */
export function CardsCard(): JSX.Element {
  const { data, error, refetch } = useQuery(cardsQuery);
  const [cardToRemove, setCardToRemove] = useState<SavedCard>();
  const remove = async (): Promise<string> => {
    await call(api.billing.cards[':id'].$delete({ param: { id: cardToRemove?.methodRef ?? '' } }));
    await refreshMoney();
    return t.cards.removed;
  };
  return (
    <Card title={t.cards.title} isFlush>
      {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton className="m-5" />}
      {data?.cards.length === 0 && <EmptyState {...t.cards.empty} />}
      <ul>
        {data?.cards.map((card) => (
          <li
            key={card.methodRef}
            className="flex items-center justify-between gap-3 border-b border-line px-4 py-3 text-sm last:border-b-0 sm:px-5"
          >
            <span>
              {cardLabel(card)} <span className="text-muted">{t.cards.expires(card.expires)}</span>
            </span>
            <Button
              size="sm"
              variant="quiet"
              isChange
              aria-label={`${t.cards.remove} ${cardLabel(card)}`}
              onClick={() => setCardToRemove(card)}
            >
              {t.cards.remove}
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        isOpen={cardToRemove !== undefined}
        onClose={() => setCardToRemove(undefined)}
        title={t.cards.removeTitle}
        text={t.cards.removeText}
        action={t.cards.remove}
        onConfirm={remove}
      />
    </Card>
  );
}

/** Returns the label of a card. */
export function cardLabel({ brand, lastFour }: SavedCard): string {
  return `${brand.charAt(0).toUpperCase()}${brand.slice(1)} •••• ${lastFour}`;
}
