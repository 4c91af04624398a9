import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useState } from 'react';
import type { JSX } from 'react';
import { accountQuery } from '../queries.ts';
import { useSessionEnded } from '../session-end.ts';
import { shell as t } from '../strings/index.ts';
import { Banner } from '../ui/banner.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Drawer } from '../ui/drawer.tsx';
import { viewedAccount } from '../viewed.ts';
import { AccountMenu } from './account-menu.tsx';
import { BalanceChip } from './balance-chip.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { ZoneLine } from './zone-line.tsx';

/** Layout of the signed-in dashboard: a sidebar, or a top bar with a drawer on narrow screens. */
export function AppLayout(): JSX.Element {
  return (
    <div className="bar:grid bar:grid-cols-[15.5rem_minmax(0,1fr)] print:block">
      <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line px-3 py-4 bar:flex print:hidden">
        <div className="px-2.5">
          <Brand />
        </div>
        <div className="my-4">
          <BalanceChip />
        </div>
        <div className="-mx-1 min-h-0 flex-1 overflow-y-auto px-1">
          <Navigation />
        </div>
        <Footer />
      </aside>
      <TopBar />
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[82rem] min-w-0 px-4 pt-6 pb-16 sm:px-6 bar:px-10 bar:pt-9">
        <SessionEndedBanner />
        <ViewingBanner />
        <Announcement />
        <Outlet />
      </main>
    </div>
  );
}

function SessionEndedBanner(): JSX.Element | null {
  if (!useSessionEnded()) return null;
  return (
    <div data-stays className="mb-6 bar:sticky bar:top-3 bar:z-20">
      <Banner
        tone="bad"
        title={t.signedOut.title}
        action={
          <a href="/sign-in" target="_blank" rel="noreferrer" className={buttonClass({ size: 'sm' })}>
            {t.signedOut.action}
          </a>
        }
      >
        {t.signedOut.text}
      </Banner>
    </div>
  );
}

/** Banner while viewing another account, so that an operator never mistakes it for their own. */
function ViewingBanner(): JSX.Element | null {
  const email = useQuery(accountQuery).data?.email ?? '';
  if (viewedAccount === undefined) return null;
  return (
    <div data-stays className="mb-6 break-words bar:sticky bar:top-3 bar:z-20">
      <Banner
        tone="warn"
        title={t.viewed.title(email)}
        action={
          <a href={`/admin/accounts/${viewedAccount}`} className={buttonClass({ size: 'sm' })}>
            {t.viewed.leave}
          </a>
        }
      >
        {t.viewed.text}
      </Banner>
    </div>
  );
}

/** The operator's announcement to all users. */
function Announcement(): JSX.Element | null {
  const banner = useQuery(accountQuery).data?.banner;
  if (banner === undefined || banner === null) return null;
  return (
    <div className="mb-6 break-words">
      <Banner tone={banner.tone === 'info' ? 'accent' : 'warn'} title={banner.text} />
    </div>
  );
}

function TopBar(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex items-center justify-between gap-3 border-b border-line bg-surface px-4 py-2 bar:hidden print:hidden">
      <div className="shrink-0">
        <Brand />
      </div>
      <div className="flex min-w-0 items-center gap-2">
        <BalanceChip />
        <button type="button" aria-label={t.menu} onClick={() => setOpen(true)} className="shrink-0 rounded-md p-2 hover:bg-hover">
          <MenuIcon aria-hidden="true" className="size-5" />
        </button>
      </div>
      <Drawer isOpen={isOpen} onClose={() => setOpen(false)} title={t.name} side="left" width="narrow">
        <Navigation onFollow={() => setOpen(false)} />
        <Footer />
      </Drawer>
    </header>
  );
}

function Footer(): JSX.Element {
  return (
    <div className="mt-4 flex flex-col gap-3 border-t border-line pt-3">
      <div className="flex items-center justify-between gap-2 px-2">
        <ZoneLine />
        <ThemeSwitch />
      </div>
      {viewedAccount === undefined && <AccountMenu />}
    </div>
  );
}
