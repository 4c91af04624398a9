import { useMutation, useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { api, call } from '../../api.ts';
import type { ResponseBody } from '../../api.ts';
import { queryClient } from '../../queries.ts';
import { settings } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DateTime, RelativeTime } from '../../ui/date-time.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { sessionsQuery } from './queries.ts';

const t = settings.sessions;
type Session = ResponseBody<typeof api.settings.sessions.$get>['sessions'][number];

/** The user's sessions, with buttons to end them. */
export function SessionsCard(): JSX.Element {
  const { data, error, refetch } = useQuery(sessionsQuery);
  const endOthers = useMutation({
    mutationFn: () => call(api.settings.sessions.$delete()),
    onSuccess: () => reportEnded(t.othersEnded),
    onError: reportError,
  });
  const others = (
    <Button size="sm" variant="danger" isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
      {t.others}
    </Button>
  );
  return (
    <Card title={t.title} isFlush actions={(data?.sessions.length ?? 0) > 1 && others}>
      <Table<Session>
        caption={t.caption}
        rows={data?.sessions}
        rowId={(session) => session.id}
        error={error}
        onRetry={() => void refetch()}
        empty={t.empty}
        columns={[
          {
            id: 'device',
            header: t.device,
            cell: ({ device, isThisOne, address, lastSeenAt }) => (
              <>
                {device} {isThisOne && <Badge tone="good">{t.here}</Badge>}
                <span className="block text-xs text-muted sm:hidden">
                  <code className="font-mono break-all">{address}</code>, {t.seenThen} <RelativeTime atMs={Date.parse(lastSeenAt)} />
                </span>
              </>
            ),
          },
          { id: 'place', header: t.place, isWideOnly: true, cell: ({ address }) => <code className="font-mono text-xs">{address}</code> },
          { id: 'seen', header: t.seen, isWideOnly: true, cell: ({ lastSeenAt }) => <RelativeTime atMs={Date.parse(lastSeenAt)} /> },
          { id: 'since', header: t.since, minWidth: 'medium', cell: ({ signedInAt }) => <DateTime atMs={Date.parse(signedInAt)} /> },
          {
            id: 'action',
            header: <span className="sr-only">{t.action}</span>,
            align: 'right',
            cell: (session) => !session.isThisOne && <EndButton session={session} />,
          },
        ]}
      />
    </Card>
  );
}

function EndButton({ session: { id, device, address } }: { readonly session: Session }): JSX.Element {
  const end = useMutation({
    mutationFn: () => call(api.settings.sessions[':id'].$delete({ param: { id } })),
    onSuccess: () => reportEnded(t.ended),
    onError: reportError,
  });
  const where = address === null ? device : `${device}, ${address}`;
  return (
    <Button size="sm" aria-label={t.endOne(where)} isBusy={end.isPending} onClick={() => end.mutate()}>
      {t.end}
    </Button>
  );
}

async function reportEnded(text: string): Promise<void> {
  toast('good', text);
  await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
}

function reportError(error: Error): void {
  toast('bad', error.message);
}
