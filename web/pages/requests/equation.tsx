import { Link } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { formatUsdExact, signOf } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { cx } from '../../ui/cx.ts';
import { DateTime } from '../../ui/date-time.tsx';
import type { Detail } from './queries.ts';

type Computed = Extract<Detail['equation'], { type: 'computed' }>;

/**
 * The cost as an equation: each kind of token times its price, the sum, one rounding, and what paid for it. Only the user's own requests
 * link to the statement.
 */
export function Equation({ detail, isOwn }: { readonly detail: Detail; readonly isOwn: boolean }): JSX.Element {
  const { equation } = detail;
  return (
    <>
      {equation.type === 'computed' && <Lines equation={equation} />}
      {equation.type === 'free' && <p className="text-sm">{t.detail.free}</p>}
      {equation.type === 'unrecorded' && <p className="text-sm">{t.detail.unrecorded}</p>}
      <dl className="mt-4 grid gap-x-6 text-sm sm:grid-cols-[10.5rem_minmax(0,1fr)] sm:gap-y-1.5">
        <Fact name={t.detail.held}>
          <Exact usd={detail.heldUsd} />
        </Fact>
        <Fact name={t.detail.settled}>
          <Exact usd={detail.costUsd} />
          <span className="ml-3">
            <DateTime atMs={detail.transfer?.atMs ?? detail.atMs + detail.durationMs} precision="second" />
          </span>
        </Fact>
        {detail.transfer !== null && (
          <Fact name={t.detail.balance}>
            <Exact usd={detail.transfer.balanceBeforeUsd} /> → <Exact usd={detail.transfer.balanceAfterUsd} />
          </Fact>
        )}
        {detail.paidFrom !== null && (
          <Fact name={t.detail.paidFrom}>
            <PaidFrom parts={detail.paidFrom} />
          </Fact>
        )}
        <Fact name={t.detail.ledger}>
          {detail.transfer === null ? (
            t.detail.noTransfer
          ) : (
            <span className="flex flex-wrap items-center gap-x-2">
              <Copyable text={detail.transfer.id} what={t.detail.whats.transfer} />
              {isOwn && (
                <Link to="/billing" className="link text-xs">
                  {t.detail.statement}
                </Link>
              )}
            </span>
          )}
        </Fact>
      </dl>
    </>
  );
}

/** How much of the cost each kind of credit paid. */
function PaidFrom({ parts }: { readonly parts: NonNullable<Detail['paidFrom']> }): JSX.Element {
  const { plan, promo, balance } = t.detail.credits;
  const named = [
    [plan, parts.planUsd],
    [promo, parts.promoUsd],
    [balance, parts.balanceUsd],
  ] as const;
  return (
    <ul>
      {named
        .filter(([, usd]) => signOf(usd) !== 0)
        .map(([name, usd]) => (
          <li key={name}>
            {name} <Exact usd={usd} />
          </li>
        ))}
    </ul>
  );
}

function Lines({ equation }: { readonly equation: Computed }): JSX.Element {
  const shown = equation.parts.filter(({ tokens }) => tokens > 0);
  return (
    <div
      role="region"
      aria-label={t.detail.equationCaption}
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line bg-sunken focus-visible:-outline-offset-2"
    >
      <table className="figures w-full text-sm">
        <caption className="sr-only">{t.detail.equationCaption}</caption>
        <thead>
          <tr className="border-b border-line text-right">
            <Head isLeft>{t.detail.bucket}</Head>
            <Head isWide>{t.detail.count}</Head>
            <Head isWide>{t.detail.price}</Head>
            <Head>{t.detail.amount}</Head>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ bucket, tokens, pricePerMillionUsd, amountUsd }) => (
            <tr key={bucket} className="text-right">
              <th scope="row" className="px-3 py-1.5 text-left font-normal">
                {t.detail.parts[bucket]}
                <span className="block text-xs text-muted sm:hidden">
                  {formatCount(tokens)} × {formatUsdExact(pricePerMillionUsd)} {t.detail.perMillion}
                </span>
              </th>
              <td className="hidden px-3 py-1.5 sm:table-cell">{formatCount(tokens)}</td>
              <td className="hidden px-3 py-1.5 whitespace-nowrap sm:table-cell">× {formatUsdExact(pricePerMillionUsd)}</td>
              <td className="px-3 py-1.5 whitespace-nowrap">= {formatUsdExact(amountUsd)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <Sum name={t.detail.sum} usd={equation.sumUsd} />
          <Sum name={t.detail.rounded} usd={equation.roundedUsd} />
          <tr className="ruled-total text-right font-semibold">
            <th scope="row" className="px-3 py-2 text-left">
              {t.detail.charged}
            </th>
            <td className="hidden sm:table-cell" colSpan={2} />
            <td className="px-3 py-2 whitespace-nowrap">{formatUsdExact(equation.costUsd)}</td>
          </tr>
        </tfoot>
      </table>
      <Notes equation={equation} />
    </div>
  );
}

function Notes({ equation }: { readonly equation: Computed }): JSX.Element {
  const isCapped = equation.isExact && equation.roundedUsd !== equation.costUsd;
  return (
    <div className="border-t border-line px-3 py-2 text-xs text-muted">
      <p>{t.detail.version(equation.priceVersion)}</p>
      {equation.longOverTokens !== null && <p>{t.detail.long(formatCount(equation.longOverTokens))}</p>}
      {isCapped && <p>{t.detail.capped}</p>}
      {!equation.isExact && <p className="font-medium text-bad">{t.detail.differs}</p>}
    </div>
  );
}

interface HeadProps {
  readonly isLeft?: boolean;
  /** Hidden on narrow screens, where the value appears under the row's name. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

function Head({ isLeft = false, isWide = false, children }: HeadProps): JSX.Element {
  return (
    <th
      scope="col"
      className={cx('label-caps px-3 py-2 whitespace-nowrap', isLeft ? 'text-left' : 'text-right', isWide && 'hidden sm:table-cell')}
    >
      {children}
    </th>
  );
}

function Sum({ name, usd }: { readonly name: string; readonly usd: string }): JSX.Element {
  return (
    <tr className="border-t border-line text-right">
      <th scope="row" className="px-3 py-1.5 text-left font-normal">
        {name}
      </th>
      <td className="hidden sm:table-cell" colSpan={2} />
      <td className="px-3 py-1.5 whitespace-nowrap">{formatUsdExact(usd)}</td>
    </tr>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): JSX.Element {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="mb-2 min-w-0 sm:mb-0">{children}</dd>
    </>
  );
}

function Exact({ usd }: { readonly usd: string }): JSX.Element {
  return <span className="figures">{formatUsdExact(usd)}</span>;
}
