import { Fragment } from 'react';
import type { JSX } from 'react';

/** A name such as `openai/gpt-5.4` or `ada@example.com` that may wrap after `/`, `_` and `@` only. Copying it gives the unchanged text. */
export function Breakable({ text }: { readonly text: string }): JSX.Element[] {
  return text.split(/(?<=[/_@])/u).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
