import { useState } from 'react';
import type { JSX } from 'react';
import { api, call } from '../../../api.ts';
import { adminAccount } from '../../../strings/index.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { ChangeButton } from './change-button.tsx';
import { CreditDialog } from './credit-dialog.tsx';
import type { AccountContent } from './queries.ts';

const t = adminAccount.actions;

/** Operator actions on an account. Those that would lock operators out of their own account are hidden; the server refuses them too. */
export function AccountActions({ content }: { readonly content: AccountContent }): JSX.Element {
  const { account } = content;
  const view = (
    <a href={`/admin/view/${account.id}/overview`} className={buttonClass({})}>
      {t.view}
    </a>
  );
  if (account.status === 'closed') return view;
  return (
    <>
      {view}
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

function OperatorButton({ account: { id, email, isOperator } }: Pick<AccountContent, 'account'>): JSX.Element {
  const set = (): Promise<unknown> => call(api.admin.accounts[':id'].operator.$put({ param: { id }, json: { isOperator: !isOperator } }));
  return <ChangeButton words={isOperator ? t.noOperator : t.operator} email={email} requiresEmail={!isOperator} onConfirm={set} />;
}

function StatusButton({ account: { id, email, status } }: Pick<AccountContent, 'account'>): JSX.Element {
  const isActive = status === 'active';
  const set = (reason: string): Promise<unknown> =>
    call(api.admin.accounts[':id'].status.$put({ param: { id }, json: { status: isActive ? 'suspended' : 'active', reason } }));
  const words = isActive ? t.suspend : t.resume;
  return <ChangeButton words={words} email={email} variant={isActive ? 'danger' : 'secondary'} requiresReason onConfirm={set} />;
}
