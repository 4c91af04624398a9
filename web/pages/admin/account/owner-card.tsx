import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminAccount, settings } from '../../../strings/index.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card.tsx';
import { DateTime, RelativeTime } from '../../../ui/date-time.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { ChangeButton } from './change-button.tsx';
import type { AccountContent } from './queries.ts';

const t = adminAccount.owner;
type Owner = NonNullable<AccountContent['owner']>;
type Session = Owner['sessions'][number];

const COLUMNS: readonly Column<Session>[] = [
  {
    id: 'device',
    header: settings.sessions.device,
    cell: ({ device, address, isThisOne }) => (
      <>
        {device} {isThisOne && <Badge tone="good">{settings.sessions.here}</Badge>}
        <code className="block font-mono text-xs break-all text-muted">{address}</code>
      </>
    ),
  },
  {
    id: 'since',
    header: settings.sessions.since,
    isWideOnly: true,
    cell: ({ signedInAt }) => <DateTime atMs={Date.parse(signedInAt)} mayBreak />,
  },
  { id: 'seen', header: settings.sessions.seen, cell: ({ lastSeenAt }) => <RelativeTime atMs={Date.parse(lastSeenAt)} /> },
];

/** Owner of the account, their sign-in methods and sessions. */
export function OwnerCard({ content: { owner, account } }: { readonly content: AccountContent }): JSX.Element {
  if (owner === null)
    return (
      <Card title={t.title}>
        <p className="text-sm text-muted">{account.status === 'closed' ? t.gone : t.unclaimed}</p>
      </Card>
    );
  const end = (): Promise<unknown> => call(api.admin.accounts[':id'].sessions.$delete({ param: { id: account.id } }));
  const ending = owner.sessions.length > 0 && <ChangeButton words={t.end} email={owner.email} size="sm" onConfirm={end} />;
  return (
    <Card title={t.title} actions={ending} isFlush>
      <div className="px-4 py-4 text-sm sm:px-5">
        <p className="font-medium wrap-anywhere">
          {owner.name}, {owner.email}
        </p>
        <p className="mt-1 flex flex-wrap gap-1.5">
          <Badge tone={owner.isEmailVerified ? 'good' : 'warn'}>{owner.isEmailVerified ? t.verified : t.unverified}</Badge>
          <Badge tone={owner.hasTwoFactor ? 'good' : 'neutral'}>{owner.hasTwoFactor ? t.factor : t.noFactor}</Badge>
        </p>
        <p className="mt-1 text-muted">
          {t.ways} {signInMethods(owner).join(', ')}
        </p>
      </div>
      <Table caption={t.caption} columns={COLUMNS} rows={owner.sessions} rowId={({ id }) => id} empty={t.noSessions} />
    </Card>
  );
}

function signInMethods({ hasPassword, passkeys, linked }: Owner): readonly string[] {
  return [...(hasPassword ? [t.password] : []), ...(passkeys > 0 ? [t.passkeys(passkeys)] : []), ...linked];
}
