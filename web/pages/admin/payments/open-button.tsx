import type { JSX, ReactNode } from 'react';

/** Opens the payment of a row, for keyboard users and for rows that do not open on click. */
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
