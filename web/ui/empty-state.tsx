import type { JSX, ReactNode } from 'react';

interface EmptyStateProps {
  readonly title: string;
  readonly text?: ReactNode;
  /** The next step. */
  readonly action?: ReactNode;
}

/** Placeholder for empty content: why it is empty, and what to do next. */
export function EmptyState({ title, text, action }: EmptyStateProps): JSX.Element {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <svg aria-hidden="true" viewBox="0 0 64 28" className="mb-4 w-16 text-line-strong" fill="none" stroke="currentColor" strokeWidth="2">
        <path d="M2 26h60M12 26V11a3 3 0 0 1 6 0v15M15 13h44" strokeLinecap="round" />
        <path d="M25 13h6M39 13h6M53 13h6" stroke="var(--color-warn)" strokeWidth="3" />
      </svg>
      <p className="font-medium">{title}</p>
      {text !== undefined && <p className="mt-1 max-w-md text-sm text-pretty text-muted">{text}</p>}
      {action !== undefined && <div className="mt-4 max-w-full">{action}</div>}
    </div>
  );
}
