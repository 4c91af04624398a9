import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import type { JSX } from 'react';
import { hasSession } from '../session.ts';
import { shell as t } from '../strings/index.ts';
import { LinkButton } from '../ui/link-button.tsx';
import { Brand } from './brand.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const PLACES = [
  { to: '/models', label: t.nav.models },
  { to: '/docs', label: t.nav.docs },
  { to: '/status', label: t.nav.status },
] as const;

/** Pages that anybody may see. */
export function PublicLayout(): JSX.Element {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="border-b border-line">
        <div className="mx-auto flex max-w-[76rem] flex-wrap items-center gap-x-3 gap-y-2 sm:gap-x-8 px-4 py-3 sm:px-6">
          <Brand />
          <nav aria-label={t.navigation} className="order-last flex w-full gap-5 text-sm sm:order-none sm:w-auto sm:flex-1">
            {PLACES.map(({ to, label }) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ includeSearch: false }}
                className="rounded-sm text-muted hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink"
              >
                {label}
              </Link>
            ))}
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <Entrance />
          </div>
        </div>
      </header>
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[76rem] min-w-0 flex-1 px-4 py-8 sm:px-6 sm:py-12">
        <Outlet />
      </main>
      <footer className="border-t border-line">
        <div className="mx-auto flex max-w-[76rem] items-center justify-between gap-4 px-4 py-4 text-xs text-muted sm:px-6">
          <span>{t.name}</span>
          <ThemeSwitch />
        </div>
      </footer>
    </div>
  );
}

/** The way in, or, for those who are in, the way to their dashboard. */
function Entrance(): JSX.Element {
  const { data: isSignedIn } = useQuery({ queryKey: ['session'], queryFn: hasSession });
  if (isSignedIn === true)
    return (
      <LinkButton to="/overview" size="sm" variant="primary">
        {t.dashboard}
      </LinkButton>
    );
  return (
    <>
      <LinkButton to="/sign-in" size="sm" variant="quiet">
        {t.signIn}
      </LinkButton>
      <LinkButton to="/sign-up" size="sm" variant="primary">
        {t.signUp}
      </LinkButton>
    </>
  );
}
