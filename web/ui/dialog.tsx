import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import type { InputEvent, JSX, ReactNode, RefObject } from 'react';
import { useBack } from '../back-button.ts';
import { useSessionEnded } from '../session-end.ts';
import { faults, kit as t, shell } from '../strings/index.ts';
import { Button } from './button.tsx';
import { cx } from './cx.ts';
import { IsErrorRead } from './field.tsx';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly text?: ReactNode;
  /** The buttons at the bottom, the primary one last. */
  readonly actions?: ReactNode;
  /** Error message, shown beside the buttons: the end of a long form may be scrolled out of view. */
  readonly error?: string | undefined;
  /** A request runs: the dialog stays open until its result is known, because a failure would have nowhere to show. */
  readonly isBusy?: boolean;
  /** Cannot be closed by a press outside, even before anything is typed. */
  readonly isModal?: boolean;
  /** The URL says that it is open. */
  readonly isInUrl?: boolean;
  readonly width?: 'md' | 'lg';
  readonly children?: ReactNode;
}

/** Selects the first field to fill in; of radio buttons, the checked one. */
const FIELD = ':is(input:not([type=radio], [type=checkbox]), input[type=radio]:checked, select, textarea):not(:disabled)';

/** Selects the fields that are typed into, in which more is lost than a choice. */
const TYPED = 'textarea, input:not([type=radio], [type=checkbox])';

/** A question or form in front of the page. */
export function Dialog({
  isOpen,
  onClose,
  title,
  text,
  actions,
  error,
  isBusy = false,
  isModal = false,
  isInUrl = false,
  width = 'md',
  children,
}: DialogProps): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const { onInput, leave, isAsking, setAsking } = useLeaving({ isOpen, isBusy, isModal, isInUrl, onClose, body });
  // A wrong field is focused, which reads its error. Only an error without a field is an alert: one would hear it twice.
  const [isAtField, setAtField] = useState(false);
  useLayoutEffect(() => {
    const field = error === undefined ? null : body.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    field?.focus();
    setAtField(field instanceof HTMLElement);
  }, [error]);
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open) leave();
      }}
      disablePointerDismissal={isModal}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fade fixed inset-0 z-40 bg-veil print:hidden" />
        <BaseDialog.Popup
          // Focus the first field rather than the close button. Not after a touch, which would open the on-screen keyboard.
          initialFocus={(by) => (by === 'touch' ? true : (body.current?.querySelector<HTMLElement>(FIELD) ?? true))}
          className={cx(
            'fade fixed inset-x-3 top-1/2 z-50 mx-auto flex max-h-[calc(100dvh-1.5rem)] -translate-y-1/2 flex-col rounded-xl border border-line bg-raised shadow-float outline-none data-ending-style:scale-[0.98] data-starting-style:scale-[0.98]',
            width === 'lg' ? 'max-w-2xl' : 'max-w-md',
          )}
        >
          <Header title={title} text={text} isModal={isModal} />
          <div
            ref={body}
            onInput={onInput}
            // Shows a line under the title while content is scrolled behind it.
            onScroll={({ currentTarget }) => currentTarget.toggleAttribute('data-scrolled', currentTarget.scrollTop > 0)}
            className="min-h-0 overflow-y-auto border-t border-transparent px-5 pt-2 pb-4 empty:pt-0 empty:pb-2 data-scrolled:border-line"
          >
            <IsErrorRead value={error !== undefined}>{children}</IsErrorRead>
          </div>
          {isAsking ? (
            <Question onStay={() => setAsking(false)} onLeave={onClose} />
          ) : (
            actions !== undefined && <Footer actions={actions} error={error} isAtField={isAtField} />
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface Leaving {
  readonly onInput: (event: InputEvent<HTMLElement>) => void;
  readonly leave: () => void;
  readonly isAsking: boolean;
  readonly setAsking: (isAsking: boolean) => void;
}

type LeavingOptions = Required<Pick<DialogProps, 'isOpen' | 'isBusy' | 'isModal' | 'isInUrl' | 'onClose'>> & {
  readonly body: RefObject<HTMLElement | null>;
};

/** Closes the dialog by Escape, a press outside or Back. Asks first if something was typed since it opened. */
function useLeaving({ isOpen, isBusy, isModal, isInUrl, onClose, body }: LeavingOptions): Leaving {
  const isTyped = useRef(false);
  const [isAsking, setAsking] = useState(false);
  useLayoutEffect(() => {
    if (isOpen) return;
    isTyped.current = false;
    setAsking(false);
  }, [isOpen]);
  const leave = (): void => {
    if (isBusy) return;
    if (!isTyped.current) return onClose();
    // The second Escape takes back the first.
    setAsking(!isAsking);
  };
  // Of a secret shown once, its dialog itself asks.
  const isHeld = isModal && !isInUrl;
  useBack({ isOpen: isOpen && !isHeld, inside: body, isInUrl: () => isInUrl && !isBusy && !isTyped.current, onBack: leave });
  const onInput = ({ target }: InputEvent<HTMLElement>): void => {
    if (target instanceof Element && target.matches(TYPED)) isTyped.current = true;
  };
  return { onInput, leave, isAsking, setAsking };
}

function Header({ title, text, isModal }: Pick<DialogProps, 'title' | 'text' | 'isModal'>): JSX.Element {
  return (
    <header className="flex items-start gap-4 px-5 pt-5 pb-2">
      <div className="min-w-0 flex-1">
        <BaseDialog.Title className="text-lg font-semibold wrap-anywhere">{title}</BaseDialog.Title>
        {text !== undefined && <BaseDialog.Description className="mt-1 text-sm wrap-anywhere text-muted">{text}</BaseDialog.Description>}
      </div>
      {isModal !== true && (
        <BaseDialog.Close aria-label={t.close} className="-m-1.5 rounded-md p-1.5 text-muted hover:bg-hover hover:text-ink">
          <X aria-hidden="true" className="size-4" />
        </BaseDialog.Close>
      )}
    </header>
  );
}

/** Asks before typed text is thrown away. */
function Question({ onStay, onLeave }: { readonly onStay: () => void; readonly onLeave: () => void }): JSX.Element {
  return (
    <footer className="border-t border-line px-5 py-3">
      <p role="alert" className="mb-3 text-sm font-medium">
        {t.discard.title}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="quiet" onClick={onLeave}>
          {t.discard.leave}
        </Button>
        <Button variant="primary" isChange={false} ref={(button) => button?.focus()} onClick={onStay}>
          {t.discard.stay}
        </Button>
      </div>
    </footer>
  );
}

/** Repeats here that the session has ended, because the dialog covers the banner of the page. */
function Footer({ actions, error, isAtField }: Pick<DialogProps, 'actions' | 'error'> & { readonly isAtField: boolean }): JSX.Element {
  const isOver = useSessionEnded();
  const fault = error ?? (isOver ? faults.signedOut : undefined);
  return (
    <footer className="border-t border-line px-5 py-3">
      {fault !== undefined && (
        <p role={isAtField ? undefined : 'alert'} className="mb-3 text-sm font-medium wrap-anywhere text-bad">
          {fault}{' '}
          {isOver && (
            <a href="/sign-in" target="_blank" rel="noreferrer" className="link">
              {shell.signedOut.action}
            </a>
          )}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">{actions}</div>
    </footer>
  );
}
