import { useEffect, useState } from 'react';
import type { JSX, RefObject } from 'react';

interface Problem {
  /** Shown below the input once the user has left it. */
  readonly shown: string | undefined;
  readonly setLeft: (isLeft: boolean) => void;
}

/** Keeps the form of an input with a problem from being sent: the input is focused and says what is wrong. */
export function useProblem(input: RefObject<HTMLInputElement | null>, problem: string | undefined): Problem {
  const [isLeft, setLeft] = useState(false);
  const hasProblem = problem !== undefined;
  useEffect(() => {
    const form = input.current?.form ?? undefined;
    if (!hasProblem || form === undefined) return;
    const stop = (event: Event): void => {
      if (!event.defaultPrevented) input.current?.focus();
      event.preventDefault();
      event.stopPropagation();
      setLeft(true);
    };
    form.addEventListener('submit', stop, { capture: true });
    return () => form.removeEventListener('submit', stop, { capture: true });
  }, [hasProblem, input]);
  return { shown: isLeft ? problem : undefined, setLeft };
}

/** The problem of an input, which names it by `aria-describedby`. */
export function InputProblem({ id, text }: { readonly id: string; readonly text: string | undefined }): JSX.Element | null {
  if (text === undefined) return null;
  return (
    <p id={id} role="alert" className="text-xs font-medium text-bad">
      {text}
    </p>
  );
}
