import { formatUsd, asNanos } from '../ledger/money.ts';

const CENT_NANOS = 10_000_000n;

/**
 * Formats an amount for people: to the cent, or with its first two digits below a cent. Always rounds towards zero, so that no limit looks
 * exceeded that is not.
 */
export function shortUsd(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const unit = size === 0n || size >= CENT_NANOS ? CENT_NANOS : 10n ** BigInt(Math.max(0, size.toString().length - 2));
  const [whole = '0', decimals = ''] = formatUsd(asNanos((size / unit) * unit)).split('.');
  return `${nanos < 0n ? '-' : ''}$${whole}.${decimals.padEnd(2, '0')}`;
}
