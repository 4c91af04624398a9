import { Outlet } from '@tanstack/react-router';
import type { JSX } from 'react';
import { Brand } from './brand.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

/** Layout of sign-in and related pages: one narrow column. */
export function AccountLayout(): JSX.Element {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex items-center justify-between px-4 py-4 sm:px-6">
        <Brand />
        <ThemeSwitch />
      </header>
      <main id="content" tabIndex={-1} className="mx-auto w-full max-w-md min-w-0 flex-1 px-4 pt-6 pb-16 sm:pt-16">
        <Outlet />
      </main>
    </div>
  );
}
