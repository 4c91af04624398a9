import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX, ReactNode } from 'react';
import { accountLabel } from '../../../account-label.ts';
import { isNotFound } from '../../../api.ts';
import { compact } from '../../../search-params.ts';
import { adminRequests as t } from '../../../strings/index.ts';
import { Copyable } from '../../../ui/copyable.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { DrawerSection } from '../../../ui/drawer-section.tsx';
import { LoadingOrError } from '../../../ui/loading-or-error.tsx';
import { RequestFrame, RequestParts } from '../../requests/drawer.tsx';
import { RefusedParts } from '../../requests/refused-details.tsx';
import { detailQuery, refusedQuery } from './queries.ts';

interface AdminRequestDrawerProps {
  readonly id: string | undefined;
  readonly isRefused: boolean;
  readonly onClose: () => void;
}

/** One request, admitted or refused, with its account. */
export function AdminRequestDrawer({ id, isRefused, onClose }: AdminRequestDrawerProps): JSX.Element {
  const Shown = isRefused ? Refused : Details;
  return (
    <RequestFrame id={id} onClose={onClose}>
      {id !== undefined && <Shown id={id} />}
    </RequestFrame>
  );
}

function Details({ id }: { readonly id: string }): JSX.Element {
  const { data: detail, error, refetch } = useQuery(detailQuery(id));
  if (isNotFound(error)) return <Refused id={id} />;
  if (detail === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-96" />;
  return (
    <WithOwner by={detail}>
      <RequestParts detail={detail} keyName={detail.keyName} isOwn={false} />
    </WithOwner>
  );
}

function Refused({ id }: { readonly id: string }): JSX.Element {
  const { data, error, refetch } = useQuery(refusedQuery({ q: id }));
  if (data === undefined) return <LoadingOrError error={error} onRetry={() => void refetch()} className="h-64" />;
  const [refused] = data.refused;
  if (refused === undefined) return <EmptyState title={t.notFound} />;
  return (
    <WithOwner by={refused} view="refused">
      <RefusedParts refused={refused} keyName={refused.keyName} />
    </WithOwner>
  );
}

interface WithOwnerProps {
  readonly by: { readonly accountId: string; readonly email: string };
  readonly view?: 'refused';
  readonly children: ReactNode;
}

/** The account of a request, with a link to all of its requests. */
function WithOwner({ by: { accountId, email }, view, children }: WithOwnerProps): JSX.Element {
  return (
    <div className="flex flex-col gap-7">
      <DrawerSection title={t.owner}>
        <p className="text-sm wrap-anywhere">
          <Link to="/admin/requests" search={compact({ view, account: accountId })} className="link">
            {accountLabel(email)}
          </Link>
        </p>
        <Copyable text={accountId} what={t.accountId} />
      </DrawerSection>
      {children}
    </div>
  );
}
