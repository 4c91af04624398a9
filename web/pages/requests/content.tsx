import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { requests as t } from '../../strings/index.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { DateTime } from '../../ui/date-time.tsx';
import { isReadOnly } from '../../viewed.ts';
import { loggingQuery, type Detail } from './queries.ts';

/** Prompt and answer, if the account records them, and when they are deleted. */
export function Content({ detail: { content, status } }: { readonly detail: Detail }): JSX.Element {
  const { data: logging } = useQuery(loggingQuery);
  if (content === null)
    return (
      <p className="text-sm text-muted">
        {status === 'error' && `${t.detail.noErrorBody} `}
        {logging?.days === null ? t.detail.contentOff : t.detail.contentNone}{' '}
        {logging?.days === null && !isReadOnly && (
          <Link to="/settings" className="link">
            {t.detail.settings}
          </Link>
        )}
      </p>
    );
  return (
    <div className="flex flex-col gap-3">
      <p className="text-xs text-muted">
        {t.detail.contentUntil} <DateTime atMs={content.deleteAtMs} />. {content.isCut && t.detail.contentCut}
      </p>
      <CodeBlock snippets={[{ id: 'request', label: t.detail.request, code: indent(content.request) }]} />
      <CodeBlock
        snippets={[
          {
            id: 'answer',
            label: status === 'error' ? t.detail.errorBody : t.detail.answer,
            code: status === 'error' ? indent(content.answer) : content.answer,
          },
        ]}
      />
    </div>
  );
}

/** Indents JSON. Truncated content is not valid JSON and is returned unchanged. */
function indent(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
