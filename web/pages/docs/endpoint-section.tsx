import { useState } from 'react';
import type { JSX } from 'react';
import { docs as t } from '../../strings/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { examplesFor } from './examples.ts';
import { Prose } from './prose.tsx';
import { nameOf } from './read-document.ts';
import type { ApiDocument, Content, Endpoint, OperationResponse, Parameter } from './read-document.ts';
import { Field, SchemaFields } from './schema-fields.tsx';

/** One operation: description, parameters, responses and an example. */
export function EndpointSection({ endpoint, document }: { readonly endpoint: Endpoint; readonly document: ApiDocument }): JSX.Element {
  const { method, path, operation } = endpoint;
  const [example, setExample] = useState('curl');
  return (
    <section id={operation.operationId} className="scroll-mt-6 border-t border-line pt-8">
      <h2 className="text-xl font-semibold tracking-tight">{operation.summary}</h2>
      <p className="mt-2 flex items-center gap-2.5">
        <Badge tone="accent" isPlain>
          {method}
        </Badge>
        <code className="font-mono text-sm break-all">{path}</code>
      </p>
      <Prose text={operation.description} className="mt-3 max-w-3xl text-muted" />
      <CodeBlock snippets={examplesFor(endpoint, t.prompt)} chosenId={example} onChoose={setExample} className="mt-5" />
      {operation.parameters !== undefined && <Parameters parameters={operation.parameters} />}
      {operation.requestBody !== undefined && <Body content={operation.requestBody.content} document={document} />}
      <h3 className="mt-8 mb-1 font-semibold">{t.responses}</h3>
      <ul className="divide-y divide-line">
        {Object.entries(operation.responses).map(([status, response]) => (
          <li key={status} className="flex gap-4 py-3">
            <Status status={status} />
            <ResponseLine response={response} document={document} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Status({ status }: { readonly status: string }): JSX.Element {
  return (
    <span className="w-14 shrink-0">
      <Badge tone={status.startsWith('2') ? 'good' : status.startsWith('5') ? 'bad' : 'warn'} isPlain>
        {status}
      </Badge>
    </span>
  );
}

function Parameters({ parameters }: { readonly parameters: readonly Parameter[] }): JSX.Element {
  return (
    <>
      <h3 className="mt-8 mb-1 font-semibold">{t.parameters}</h3>
      <ul className="divide-y divide-line">
        {parameters.map(({ name, required, schema, description }) => (
          <li key={name} className="py-3">
            <Field
              name={name}
              field={{ ...schema, ...(description !== undefined && { description }) }}
              isRequired={required === true}
              depth={0}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

function Body({ content, document }: { readonly content: Content; readonly document: ApiDocument }): JSX.Element | null {
  const [first] = Object.values(content);
  if (first === undefined) return null;
  const { $ref: reference } = first.schema;
  const schema = reference === undefined ? first.schema : (document.components.schemas[nameOf(reference)] ?? {});
  return (
    <>
      <h3 className="mt-8 mb-1 font-semibold">{t.body}</h3>
      <SchemaFields schema={schema} />
    </>
  );
}

function ResponseLine({ response, document }: { readonly response: OperationResponse; readonly document: ApiDocument }): JSX.Element {
  const headers = Object.keys(response.headers ?? {});
  return (
    <div className="min-w-0">
      <Prose text={response.description} className="text-sm" />
      <p className="mt-0.5 flex flex-wrap gap-x-4 text-xs text-muted">
        {Object.entries(response.content ?? {}).map(([type, { schema }]) => (
          <span key={type}>
            {type}:{' '}
            <a href={`#${nameOf(schema.$ref ?? '')}`} className="link figures">
              {nameOf(schema.$ref ?? '')}
            </a>
          </span>
        ))}
      </p>
      {headers.length > 0 && (
        <details className="mt-1.5">
          <summary className="w-fit rounded-sm text-xs text-accent hover:underline">{t.headers}</summary>
          <dl className="mt-1.5 grid gap-y-1 border-l-2 border-line pl-4 text-xs sm:grid-cols-[auto_1fr] sm:gap-x-4">
            {headers.map((name) => (
              <div key={name} className="contents">
                <dt className="font-mono">{name}</dt>
                <dd className="mb-1 text-muted">{document.components.headers[name]?.description}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
