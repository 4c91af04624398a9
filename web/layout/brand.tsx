import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { shell as t } from '../strings/index.ts';

/** Name and logo: a barrier that opens. */
export function Brand(): JSX.Element {
  return (
    <Link to="/" className="inline-flex min-w-0 items-center gap-2.5 rounded-md font-semibold tracking-tight">
      <svg aria-hidden="true" viewBox="0 0 32 32" className="size-7 shrink-0">
        <rect width="32" height="32" rx="7" fill="var(--color-accent)" />
        <path
          d="M9.5 24V12.5M9.5 14.5 25 8.5M7 24h5"
          fill="none"
          stroke="var(--color-accent-ink)"
          strokeWidth="2.8"
          strokeLinecap="round"
        />
      </svg>
      <span className="min-w-0 truncate">{t.name}</span>
    </Link>
  );
}
