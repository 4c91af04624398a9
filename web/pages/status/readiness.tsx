import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { status as t } from '../../strings/index.ts';
import { cx } from '../../ui/cx.ts';

const POLL_MS = 15_000;
const TIMEOUT_MS = 5000;

/** Whether the gate accepts requests right now, polled from `/readyz`. */
export function Readiness(): JSX.Element {
  const { data: isReady } = useQuery({ queryKey: ['ready'], queryFn: checkReadiness, refetchInterval: POLL_MS });
  const text = isReady === undefined ? t.ready.unknown : isReady ? t.ready.yes : t.ready.no;
  return (
    <div role="status" className="flex items-center gap-3">
      <span
        aria-hidden="true"
        className={cx(
          'size-3 shrink-0 rounded-full forced-color-adjust-none',
          isReady === undefined ? 'bg-line-strong' : isReady ? 'bg-good' : 'bg-bad',
        )}
      />
      <div>
        <p className="text-lg font-semibold">{text}</p>
        <p className="text-xs text-muted">{t.readyHint}</p>
      </div>
    </div>
  );
}

async function checkReadiness(): Promise<boolean> {
  try {
    return (await fetch('/readyz', { signal: AbortSignal.timeout(TIMEOUT_MS) })).ok;
  } catch {
    // No response means not ready.
    return false;
  }
}
