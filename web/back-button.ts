import { useBlocker, type RouterHistory } from '@tanstack/react-router';
import type { RefObject } from 'react';

/** What the Back button undoes: a choice of a filter, tab or page, an opened dialog or drawer. Not every pause in typing. */

const DIALOG = '[role=dialog]';
const TYPED_INTO = 'textarea, input:not([type=radio], [type=checkbox])';

let history: RouterHistory;
/** The page before the last step forward; undefined after steps back. */
let pathBefore: string | undefined;

/** Starts to remember where the user came from. */
export function watchHistory(watched: RouterHistory): void {
  history = watched;
  let path = history.location.pathname;
  history.subscribe(({ location, action: { type } }) => {
    if (type !== 'REPLACE') pathBefore = type === 'PUSH' ? path : undefined;
    path = location.pathname;
  });
}

/** Tells whether a change of the URL replaces the current one: while the user is typing, and in front of the page. */
export function isMinorStep(): boolean {
  return document.activeElement?.matches(TYPED_INTO) === true || document.querySelector(DIALOG) !== null;
}

/** Closes what a step on this page opened, by undoing that step: going on would leave two equal steps behind. */
export function undoStep(orElse: () => void): void {
  if (pathBefore === history.location.pathname) history.back({ ignoreBlocker: true });
  else orElse();
}

interface Closable {
  readonly isOpen: boolean;
  /** An element in it. */
  readonly inside: RefObject<HTMLElement | null>;
  /** Whether Back may undo the step to the URL in which it is open. */
  readonly isInUrl: () => boolean;
  readonly onBack: () => void;
}

/** Lets the Back button close a dialog or drawer instead of leaving the page behind it. */
export function useBack({ isOpen, inside, isInUrl, onBack }: Closable): void {
  useBlocker({
    disabled: !isOpen,
    enableBeforeUnload: false,
    shouldBlockFn: ({ action }) => {
      const isInFront = inside.current?.closest(DIALOG) === [...document.querySelectorAll(DIALOG)].at(-1);
      if (action !== 'BACK' || !isInFront || isInUrl()) return false;
      onBack();
      return true;
    },
  });
}
