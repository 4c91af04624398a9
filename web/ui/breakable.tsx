import { Fragment } from 'react';
import type { JSX } from 'react';

/** A name such as `openai/gpt-5.4` or `ada@example.com`, which may go on in the next line behind its signs and not amid a word. Copied, it is the same text. */
export function Breakable({ text }: { readonly text: string }): JSX.Element[] {
  return text.split(/(?<=[/_@])/u).map((part, index) => (
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
