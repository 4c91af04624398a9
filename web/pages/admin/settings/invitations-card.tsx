import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminSettings as t } from '../../../strings/index.ts';
import { Banner } from '../../../ui/banner.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Copyable } from '../../../ui/copyable.tsx';
import { DateTime } from '../../../ui/date-time.tsx';
import { Field } from '../../../ui/field.tsx';
import { labelled } from '../../../ui/filter-select.tsx';
import { fieldError, Form } from '../../../ui/form.tsx';
import { Select } from '../../../ui/select.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { TextInput } from '../../../ui/text-input.tsx';
import { refreshService, type Service } from './queries.ts';

type Invitation = Service['invitations'][number];
const KINDS = ['person', 'operator'] as const;

/** One-time invitation links: create and withdraw. */
export function InvitationsCard({ invitations }: { readonly invitations: readonly Invitation[] }): JSX.Element {
  const [idToWithdraw, setIdToWithdraw] = useState<string>();
  const withdraw = async (): Promise<string> => {
    await call(api.admin.settings.invitations[':id'].$delete({ param: { id: idToWithdraw ?? '' } }));
    await refreshService();
    return t.invitations.withdrawn;
  };
  const columns: readonly Column<Invitation>[] = [
    {
      id: 'kind',
      header: t.invitations.kind,
      cell: ({ kind, email }) => (
        <>
          <span className="block font-medium">{t.invitations.kindNames[kind]}</span>
          <span className="block text-xs break-all text-muted">{email ?? t.invitations.anyone}</span>
        </>
      ),
    },
    { id: 'ends', header: t.invitations.ends, cell: ({ expiresAtMs }) => <DateTime atMs={expiresAtMs} mayBreak /> },
    {
      id: 'withdraw',
      header: '',
      align: 'right',
      cell: (invitation) => (
        <Button size="sm" variant="quiet" aria-label={nameWithdrawal(invitation)} onClick={() => setIdToWithdraw(invitation.id)}>
          {t.invitations.withdraw}
        </Button>
      ),
    },
  ];
  return (
    <Card title={t.invitations.title} hint={t.invitations.hint} isFlush>
      <div className="border-b border-line px-4 py-4 sm:px-5">
        <NewInvitation />
      </div>
      <Table
        caption={t.invitations.caption}
        columns={columns}
        rows={invitations}
        rowId={(invitation) => invitation.id}
        empty={t.invitations.empty}
      />
      <ConfirmDialog
        isOpen={idToWithdraw !== undefined}
        onClose={() => setIdToWithdraw(undefined)}
        title={t.invitations.withdrawTitle}
        text={t.invitations.withdrawText}
        action={t.invitations.withdraw}
        onConfirm={withdraw}
      />
    </Card>
  );
}

function nameWithdrawal({ kind, email }: Invitation): string {
  return `${t.invitations.withdraw}: ${t.invitations.kindNames[kind]}, ${email ?? t.invitations.anyone}`;
}

function NewInvitation(): JSX.Element {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('person');
  const [email, setEmail] = useState('');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call(api.admin.settings.invitations.$post({ json: { kind, ...(email.trim() !== '' && { email: email.trim() }) } })),
    onSuccess: async () => {
      setEmail('');
      await refreshService();
    },
  });
  return (
    <Form action={t.invitations.make} isBusy={isPending} error={error} fields={['email']} onSubmit={() => mutate()}>
      <Field label={t.invitations.kind}>
        {(wiring) => <Select {...wiring} value={kind} choices={labelled(KINDS, t.invitations.kinds)} onChoose={setKind} />}
      </Field>
      <Field label={t.invitations.email} isOptional error={fieldError(error, 'email')}>
        {(wiring) => <TextInput {...wiring} type="email" value={email} onText={setEmail} autoComplete="off" />}
      </Field>
      {data !== undefined && (
        <Banner tone="good" title={t.invitations.once}>
          <Copyable text={data.link} what={t.invitations.link} isWhole />
        </Banner>
      )}
    </Form>
  );
}
