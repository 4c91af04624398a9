import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminAccount } from '../../../strings/index.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { CreditDialog } from './credit-dialog.tsx';
import type { AccountContent } from './queries.ts';
import { ReasonDialog } from './reason-dialog.tsx';

const t = adminAccount.actions;

/** What operators do to an account. What would lock out who does it is left out; the server refuses it too. */
export function AccountActions({ content }: { readonly content: AccountContent }): JSX.Element | null {
  const { account } = content;
  if (account.status === 'closed') return null;
  return (
    <>
      <CreditButton content={content} />
      {!account.isOwn && <OperatorButton account={account} />}
      {!account.isOwn && <StatusButton account={account} />}
    </>
  );
}

function CreditButton({ content }: { readonly content: AccountContent }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{adminAccount.credit.action}</Button>
      {isOpen && <CreditDialog content={content} onClose={() => setOpen(false)} />}
    </>
  );
}

function StatusButton({ account: { id, email, status } }: Pick<AccountContent, 'account'>): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const isActive = status === 'active';
  const words = isActive ? t.suspend : t.resume;
  const set = (reason: string): Promise<unknown> =>
    call(api.admin.accounts[':id'].status.$put({ param: { id }, json: { status: isActive ? 'suspended' : 'active', reason } }));
  return (
    <>
      <Button variant={isActive ? 'danger' : 'secondary'} onClick={() => setAsking(true)}>
        {words.action}
      </Button>
      {isAsking && (
        <ReasonDialog
          title={words.title(email)}
          text={words.text}
          action={words.action}
          done={words.done}
          onClose={() => setAsking(false)}
          onConfirm={set}
        />
      )}
    </>
  );
}

function OperatorButton({ account: { id, email, isOperator } }: Pick<AccountContent, 'account'>): JSX.Element {
  const words = isOperator ? t.noOperator : t.operator;
  const set = (): Promise<unknown> => call(api.admin.accounts[':id'].operator.$put({ param: { id }, json: { isOperator: !isOperator } }));
  return <ConfirmButton words={words} title={words.title(email)} name={isOperator ? undefined : email} onConfirm={set} />;
}
