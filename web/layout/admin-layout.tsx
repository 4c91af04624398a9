import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import type { JSX } from 'react';
import { accountQuery } from '../queries.ts';
import { shell as t } from '../strings/index.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { LinkButton } from '../ui/link-button.tsx';
import { PageHeader } from '../ui/page-header.tsx';

/** Layout of the operator pages. They require two-factor authentication. */
export function AdminLayout(): JSX.Element {
  const { data } = useQuery(accountQuery);
  return data?.hasTwoFactor === false ? <TwoFactorRequired /> : <Outlet />;
}

function TwoFactorRequired(): JSX.Element {
  return (
    <>
      <PageHeader title={t.nav.admin} />
      <EmptyState
        title={t.secondFactor.title}
        text={t.secondFactor.text}
        action={
          <LinkButton to="/settings" search={{ tab: 'security' }} variant="primary">
            {t.secondFactor.action}
          </LinkButton>
        }
      />
    </>
  );
}
