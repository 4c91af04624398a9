import type { JSX, ReactNode } from 'react';

/** Opens the payment of a row; for keyboards, and where the row itself opens nothing. */
export function OpenButton({ onOpen, children }: { readonly onOpen: () => void; readonly children: ReactNode }): JSX.Element {
  return (
    <button
      type="button"
      className="link text-left"
      onClick={(event) => {
        event.stopPropagation();
        onOpen();
      }}
    >
      {children}
    </button>
  );
}
