import { Fragment } from 'react';
import type { JSX } from 'react';

/** A host such as `api.example.com:8443` that may wrap after its points and before its port only. */
export function BreakableHost({ text }: { readonly text: string }): JSX.Element[] {
  return withBreaks(text.split(/(?<=\.)|(?=:)/u));
}

/** A name such as `openai/gpt-5.4` or `ada@example.com` that may wrap after `/`, `_`, `@` and `…` only. Copying it gives the unchanged text. */
export function Breakable({ text }: { readonly text: string }): JSX.Element[] {
  return withBreaks(text.split(/(?<=[/_@…])/u));
}

function withBreaks(parts: readonly string[]): JSX.Element[] {
  return parts.map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
