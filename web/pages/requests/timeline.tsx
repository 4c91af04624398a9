import type { JSX } from 'react';
import { formatMs } from '../../numbers.ts';
import { requests as t } from '../../strings/index.ts';
import { cx } from '../../ui/cx.ts';
import type { Detail } from './queries.ts';

/** Attempts at providers, with duration and outcome. Bars are placed on a common time axis. */
export function Timeline({ detail }: { readonly detail: Detail }): JSX.Element {
  if (detail.steps.length === 0) return <p className="text-sm text-muted">{t.detail.noProvider}</p>;
  const ends = endsOf(detail);
  const wholeMs = Math.max(1, detail.durationMs, ...ends);
  return (
    <ol aria-label={t.detail.timelineCaption} className="flex flex-col gap-3">
      {detail.steps.map((step, index) => {
        const isAnswer = index === detail.steps.length - 1 && detail.provider !== '';
        const startPart = ((ends[index - 1] ?? 0) / wholeMs) * 100;
        return (
          <li key={index} className="text-sm">
            <div className="flex flex-wrap justify-between gap-x-4">
              <span>
                <span className="font-medium">{step.provider}</span>{' '}
                <span className={isAnswer && step.outcome !== 'failed' ? 'text-good' : 'text-bad'}>
                  {isAnswer && step.outcome === 'completed' ? t.detail.answered : step.outcome}
                </span>
              </span>
              <span className="figures text-muted">{formatMs(step.durationMs)}</span>
            </div>
            <div aria-hidden="true" className="mt-1 h-1.5 forced-color-adjust-none overflow-hidden rounded-full bg-sunken ring-1 ring-line">
              <div
                className={cx('h-full rounded-full', isAnswer && step.outcome !== 'failed' ? 'bg-accent' : 'bg-bad')}
                style={{ marginLeft: `${startPart}%`, width: `${Math.max(1, (step.durationMs / wholeMs) * 100)}%` }}
              />
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function endsOf({ steps }: Detail): number[] {
  let soFar = 0;
  return steps.map(({ durationMs }) => (soFar += durationMs));
}
