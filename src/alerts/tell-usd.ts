import { formatUsd, asNanos } from '../ledger/money.ts';

const CENT_NANOS = 10_000_000n;

/** An amount for people: to the cent, and below a cent with its first two digits. What is left over is left out, so that no limit looks passed that is not. */
export function tellUsd(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const unit = size === 0n || size >= CENT_NANOS ? CENT_NANOS : 10n ** BigInt(Math.max(0, size.toString().length - 2));
  const [whole = '0', decimals = ''] = formatUsd(asNanos((size / unit) * unit)).split('.');
  return `${nanos < 0n ? '-' : ''}$${whole}.${decimals.padEnd(2, '0')}`;
}
