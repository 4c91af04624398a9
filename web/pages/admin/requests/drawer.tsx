import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { adminRequests as t } from '../../../strings/index.ts';
import { Copyable } from '../../../ui/copyable.tsx';
import { Part } from '../../../ui/part.tsx';
import { Waiting } from '../../../ui/waiting.tsx';
import { RequestFrame, RequestParts } from '../../requests/drawer.tsx';
import { detailQuery } from './queries.ts';

interface AdminRequestDrawerProps {
  readonly id: string | undefined;
  readonly onClose: () => void;
}

/** One request, and whose it is. */
export function AdminRequestDrawer({ id, onClose }: AdminRequestDrawerProps): JSX.Element {
  return (
    <RequestFrame id={id} onClose={onClose}>
      {id !== undefined && <Details id={id} />}
    </RequestFrame>
  );
}

function Details({ id }: { readonly id: string }): JSX.Element {
  const { data: detail, error, refetch } = useQuery(detailQuery(id));
  if (detail === undefined) return <Waiting error={error} onRetry={() => void refetch()} className="h-96" />;
  return (
    <div className="flex flex-col gap-7">
      <Part title={t.owner}>
        <p className="text-sm wrap-anywhere">
          <Link to="/admin/requests" search={{ account: detail.accountId }} className="link">
            {detail.email}
          </Link>
        </p>
        <Copyable text={detail.accountId} what={t.accountId} />
      </Part>
      <RequestParts detail={detail} keyName={detail.keyName} isOwn={false} />
    </div>
  );
}
