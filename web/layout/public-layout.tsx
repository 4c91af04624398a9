import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { LinkButton } from '../ui/link-button.tsx';
import { Brand } from './brand.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const LINKS = [
  { to: '/models', label: t.nav.models },
  { to: '/docs', label: t.nav.docs },
  { to: '/status', label: t.nav.status },
] as const;

/** Loaded on demand, so that visitors who only look at prices do not load the dashboard. */
const AppLayout = lazy(async () => ({ default: (await import('./app-layout.tsx')).AppLayout }));

/** Layout of the public pages. Signed-in users see them inside their dashboard. */
export function PublicLayout(): JSX.Element {
  const { isSignedIn } = getRouteApi('/public').useRouteContext();
  if (!isSignedIn) return <PublicFrame />;
  return (
    <Suspense>
      <AppLayout />
    </Suspense>
  );
}

function PublicFrame(): JSX.Element {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="border-b border-line">
        <div className="mx-auto flex max-w-[76rem] flex-wrap items-center gap-x-3 gap-y-2 sm:gap-x-8 px-4 py-3 sm:px-6">
          <Brand />
          <nav aria-label={t.navigation} className="order-last flex w-full gap-5 text-sm sm:order-none sm:w-auto sm:flex-1">
            {LINKS.map(({ to, label }) => (
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
            <LinkButton to="/sign-in" size="sm" variant="quiet">
              {t.signIn}
            </LinkButton>
            <LinkButton to="/sign-up" size="sm" variant="primary">
              {t.signUp}
            </LinkButton>
          </div>
        </div>
      </header>
      <main
        id="content"
        tabIndex={-1}
        className="has-[.animate-shimmer]:min-h-dvh mx-auto w-full max-w-[76rem] min-w-0 flex-1 px-4 py-8 sm:px-6 sm:py-12"
      >
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
