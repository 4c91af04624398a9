import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';
import { Announcer } from '../ui/announcer.tsx';

/** Wraps every page: skip link, screen reader announcements, and focus after navigation. */
export function Root(): JSX.Element {
  useFocusOnHeading();
  return (
    <>
      <a
        href="#content"
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-2 text-sm font-medium text-accent-ink focus:translate-y-0"
      >
        {t.skip}
      </a>
      <Outlet />
      <Announcer />
    </>
  );
}

/** Moves the focus to the heading of a new page, so that screen readers start there. Filters and drawers do not count as a new page. */
function useFocusOnHeading(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation !== undefined && pathChanged) document.querySelector<HTMLElement>('h1[tabindex]')?.focus({ preventScroll: true });
      }),
    [router],
  );
}
