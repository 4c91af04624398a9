import type { JSX } from 'react';
import { requests as t } from '../../strings/index.ts';
import { formatDateTime } from '../../time.ts';
import { Button } from '../../ui/button.tsx';
import { useZone } from '../../zone.ts';

const TIME_DIGITS = 9;

/** Note that a slow search stopped early, with how far back it got. Request ids start with their time. */
export function CutShort({ next, onOlder }: { readonly next: string | null; readonly onOlder: (() => void) | undefined }): JSX.Element {
  const zone = useZone();
  const atMs = Number.parseInt((next ?? '').slice('req_'.length, 'req_'.length + TIME_DIGITS), 36);
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 px-5 py-6 text-sm text-muted">
      {t.cutShort(formatDateTime(atMs, zone))}
      <Button size="sm" onClick={onOlder}>
        {t.searchFurther}
      </Button>
    </div>
  );
}
