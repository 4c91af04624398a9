import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { JSX, RefObject } from 'react';
import { handleCopied } from '../fresh-key.ts';
import { kit as t } from '../strings/index.ts';
import { announce } from './announcer.tsx';
import { cx } from './cx.ts';
import { toast } from './toast.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Name of the text for the button's label: `key id`. */
  readonly what: string;
  /** The element that shows the text, selected if the clipboard is unavailable. Default: the element before the button. */
  readonly source?: RefObject<HTMLElement | null>;
  /** Shows a word beside the icon. */
  readonly isLabelled?: boolean;
  readonly className?: string;
  readonly onCopied?: () => void;
}

const CONFIRMED_MS = 2000;

/** Copies a text and confirms it. If the clipboard is unavailable (plain HTTP, or permission denied), it selects the text instead. */
export function CopyButton({ text, what, source, isLabelled = false, className, onCopied }: CopyButtonProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (button: HTMLElement): Promise<void> => {
    const isDone = await writeClipboard(text);
    setCopied(isDone);
    if (isDone) {
      handleCopied(text);
      announce(t.copiedWhat(what));
      onCopied?.();
    } else toast('bad', select(source?.current ?? elementBefore(button)) ? t.selectedWhat(what) : t.notCopied(what));
  };
  return (
    <button
      type="button"
      aria-label={isLabelled ? undefined : t.copyWhat(what)}
      title={isLabelled ? undefined : t.copyWhat(what)}
      onClick={(event) => void copy(event.currentTarget)}
      className={cx(
        'inline-flex shrink-0 items-center gap-1.5 rounded-sm p-1 text-xs text-muted hover:bg-hover hover:text-ink [&_svg]:size-3.5 print:hidden',
        isLabelled && 'border border-line px-2 font-medium',
        className,
      )}
    >
      {isCopied ? <Check aria-hidden="true" className="text-good" /> : <Copy aria-hidden="true" />}
      {isLabelled && (isCopied ? t.copied : t.copy)}
    </button>
  );
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard on plain HTTP, or permission denied: the caller selects the text instead.
    return false;
  }
}

function elementBefore(button: HTMLElement): Element | null {
  return button.previousElementSibling ?? button.parentElement?.previousElementSibling ?? null;
}

function select(element: Element | null): boolean {
  if (element === null) return false;
  getSelection()?.selectAllChildren(element);
  return true;
}
