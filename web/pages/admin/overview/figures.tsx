import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatUsd, signOf } from '../../../money.ts';
import { formatCount, formatPercent } from '../../../numbers.ts';
import { adminOverview as t } from '../../../strings/index.ts';
import { Money } from '../../../ui/money.tsx';
import { Stat } from '../../../ui/stat.tsx';
import { accountsQuery, type ServiceOverview, type Shown } from './queries.ts';

interface FiguresProps {
  readonly overview: ServiceOverview | undefined;
  readonly shown: Shown;
}

/** Key figures of the service. */
export function Figures({ overview, shown }: FiguresProps): JSX.Element {
  const { data: accounts } = useQuery(accountsQuery(shown));
  const margin = overview?.margin;
  return (
    <>
      <div className="grid grid-cols-2 gap-x-6 gap-y-6 sm:grid-cols-4">
        <Stat label={t.charged} value={overview && <Money usd={overview.chargedUsd} />} hint={t.chargedHint} />
        <Stat
          label={t.moneyIn}
          value={overview && <Money usd={overview.moneyIn.netUsd} />}
          hint={overview && t.moneyInHint(formatUsd(overview.moneyIn.paidUsd), formatUsd(overview.moneyIn.returnedUsd))}
        />
        <Stat
          label={t.listed}
          value={margin && (margin.hasAny ? <Money usd={margin.listedUsd} /> : null)}
          hint={margin && (margin.hasAny ? t.listedHint : t.noListPrice)}
        />
        <Stat
          label={t.margin}
          value={margin && (margin.hasAny ? <Money usd={margin.marginUsd} /> : null)}
          hint={margin?.hasAny === true && t.marginHint(formatUsd(margin.chargedUsd))}
        />
        <Stat
          label={t.requests}
          value={overview && formatCount(overview.requests)}
          hint={
            overview &&
            (overview.errors === 0
              ? t.noneFailed
              : t.failed(formatCount(overview.errors), formatPercent(overview.errors / overview.requests)))
          }
        />
        <Stat label={t.active} value={accounts && formatCount(accounts.active)} hint={t.activeHint} />
        <Stat label={t.newAccounts} value={overview && formatCount(overview.newAccounts)} />
      </div>
      {margin !== undefined && signOf(margin.unlistedUsd) > 0 && (
        <p className="mt-4 text-xs wrap-anywhere text-muted">{t.unlisted(formatUsd(margin.unlistedUsd), listNames(margin.unlisted))}</p>
      )}
    </>
  );
}

const NAMES_MAX = 8;

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).join(', ');
  return names.length > NAMES_MAX ? t.andMore(shown, names.length - NAMES_MAX) : shown;
}
