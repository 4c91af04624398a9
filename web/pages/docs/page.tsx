import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { docs as t } from '../../strings/index.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EndpointSection } from './endpoint-section.tsx';
import { endpointsOf, fetchDocument } from './read-document.ts';
import type { ApiDocument } from './read-document.ts';
import { SchemaFields } from './schema-fields.tsx';

/** API reference of `/v1`, generated from the OpenAPI document. */
export function DocsPage(): JSX.Element {
  const {
    data: document,
    error,
    refetch,
  } = useQuery({ queryKey: ['openapi'], queryFn: fetchDocument, staleTime: Number.POSITIVE_INFINITY });
  const download = (
    <a href="/api/openapi.json" download="openapi.json" className={buttonClass({ size: 'sm' })}>
      {t.download}
    </a>
  );
  return (
    <>
      <PageHeader title={t.title} text={document?.info.description ?? <DescriptionSkeleton />} actions={download} />
      {error !== null && (
        <Card>
          <ErrorState error={error} onRetry={() => void refetch()} />
        </Card>
      )}
      {document === undefined && error === null && <Skeleton className="h-96" />}
      {document !== undefined && (
        <div className="grid gap-10 lg:grid-cols-[13rem_minmax(0,1fr)]">
          <Contents document={document} />
          <Reference document={document} />
        </div>
      )}
    </>
  );
}

function DescriptionSkeleton(): JSX.Element {
  return (
    <>
      <Skeleton className="my-1" />
      <Skeleton className="my-1" />
    </>
  );
}

function Contents({ document }: { readonly document: ApiDocument }): JSX.Element {
  const groups = [
    {
      title: t.operations,
      links: endpointsOf(document).map(({ method, path, operation }) => [operation.operationId, `${method} ${path}`]),
    },
    { title: t.schemas, links: Object.keys(document.components.schemas).map((name) => [name, name]) },
  ];
  return (
    <nav aria-label={t.title} className="hidden self-start lg:sticky lg:top-6 lg:block">
      {groups.map(({ title, links }) => (
        <div key={title} className="mb-6">
          <p className="label-caps mb-1.5">{title}</p>
          <ul className="border-l border-line">
            {links.map(([id, label]) => (
              <li key={id}>
                <a
                  href={`#${id}`}
                  className="figures -ml-px block border-l border-transparent py-1 pl-3 text-xs text-muted hover:border-accent hover:text-ink"
                >
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Reference({ document }: { readonly document: ApiDocument }): JSX.Element {
  return (
    <div className="flex min-w-0 flex-col gap-10">
      <dl className="grid gap-x-6 gap-y-2 text-sm sm:grid-cols-[9rem_1fr]">
        <dt className="text-muted">{t.base}</dt>
        <dd className="min-w-0">
          <Copyable text={document.servers[0]?.url ?? ''} what={t.baseWhat} />
        </dd>
        <dt className="text-muted">{t.key}</dt>
        <dd>{t.keyText}</dd>
      </dl>
      {endpointsOf(document).map((endpoint) => (
        <EndpointSection key={endpoint.operation.operationId} endpoint={endpoint} document={document} />
      ))}
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <section key={name} id={name} className="scroll-mt-6 border-t border-line pt-8">
          <h2 className="font-mono text-lg font-semibold">{name}</h2>
          <SchemaFields schema={schema} />
        </section>
      ))}
    </div>
  );
}
