import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, CreditCard, LogOut, Settings } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { JSX } from 'react';
import { callAuth } from '../auth.ts';
import { accountQuery } from '../queries.ts';
import { signOutOtherTabs } from '../session-end.ts';
import { faults, shell as t } from '../strings/index.ts';
import { toast } from '../ui/toast.tsx';

/** Loaded when it is first opened: every page has this menu, but few users open it. */
const loadMenu = async () => ({ default: (await import('../ui/menu.tsx')).Menu });
const Menu = lazy(loadMenu);

/** Menu of the signed-in user: settings, billing and sign-out. */
export function AccountMenu(): JSX.Element {
  const { data: account } = useQuery(accountQuery);
  const navigate = useNavigate();
  const [isRequested, setRequested] = useState(false);
  const email = account?.email ?? '';
  const trigger = (
    <button
      type="button"
      aria-haspopup="menu"
      onClick={() =>
        void loadMenu().then(
          () => setRequested(true),
          () => toast('bad', faults.unreachable),
        )
      }
      className="flex w-full min-w-0 items-center gap-2.5 rounded-md px-2 py-1.5 text-left text-sm hover:bg-hover"
    >
      <span
        aria-hidden="true"
        className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent uppercase"
      >
        {email.slice(0, 1)}
      </span>
      <span className="sr-only">{t.account}</span>
      <span className="min-w-0 flex-1 truncate">{email}</span>
      <ChevronsUpDown aria-hidden="true" className="size-3.5 shrink-0 text-muted" />
    </button>
  );
  if (!isRequested) return trigger;
  return (
    <Suspense fallback={trigger}>
      <Menu
        isOpenAtFirst
        trigger={trigger}
        align="start"
        actions={[
          { label: t.nav.settings, icon: <Settings aria-hidden="true" />, onChoose: () => void navigate({ to: '/settings' }) },
          { label: t.nav.billing, icon: <CreditCard aria-hidden="true" />, onChoose: () => void navigate({ to: '/billing' }) },
          undefined,
          { label: t.signOut, icon: <LogOut aria-hidden="true" />, onChoose: () => void signOut() },
        ]}
      />
    </Suspense>
  );
}

/** Signs out and loads a new page, so that none of the user's data stays in memory. */
async function signOut(): Promise<void> {
  try {
    await callAuth('POST', '/sign-out');
    signOutOtherTabs();
    location.assign('/');
  } catch (error) {
    toast('bad', t.signOutFailed, error instanceof Error ? error.message : undefined);
  }
}
