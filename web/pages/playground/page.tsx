import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { JSX } from 'react';
import { modelsQuery } from '../../queries.ts';
import { createStore, useStore } from '../../store.ts';
import { compact } from '../../search-params.ts';
import type { ListedModel } from '../../queries.ts';
import { playground as t } from '../../strings/index.ts';
import { Card } from '../../ui/card.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { codeFor } from './code.ts';
import { bodyOf, useConversation } from './conversation.ts';
import { CostCard } from './cost-card.tsx';
import { NOTHING_TYPED, Parameters, parametersOf } from './parameters.tsx';
import { Talk } from './talk.tsx';

const route = getRouteApi('/app/playground');
/** Kept while the user visits other pages, like the conversation itself. */
const parameterStore = createStore(NOTHING_TYPED);

/** Playground: talk to models and see what it costs. */
export function PlaygroundPage(): JSX.Element {
  const { data: list, error, refetch } = useQuery(modelsQuery);
  const { model: id } = route.useSearch();
  const model = list?.models.find((each) => each.id === id) ?? list?.models[0];
  return (
    <>
      <PageHeader title={t.title} text={t.text} />
      {model !== undefined && list !== undefined ? (
        <Workbench models={list.models} model={model} />
      ) : (
        <Card>
          {error !== null && <ErrorState error={error} onRetry={() => void refetch()} />}
          {error === null && (list === undefined ? <Skeleton className="h-72" /> : <EmptyState {...t.noModels} />)}
        </Card>
      )}
    </>
  );
}

function Workbench({ models, model }: { readonly models: readonly ListedModel[]; readonly model: ListedModel }): JSX.Element {
  const { snippet, stream } = route.useSearch();
  const navigate = route.useNavigate();
  const conversation = useConversation();
  const typed = useStore(parameterStore);
  const settings = { model, system: typed.system, parameters: parametersOf(typed), isStreamed: stream !== 'no' };
  const { turns } = conversation;
  const last = turns.at(-1);
  const body = bodyOf(last === undefined ? [] : turns.slice(0, -1), last?.question ?? '…', settings);
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="min-w-0">
        <Talk conversation={conversation} onSend={(question) => void conversation.send(question, settings)} />
      </div>
      <div className="flex min-w-0 flex-col gap-6 xl:col-start-2 xl:row-span-2 xl:row-start-1">
        <Parameters
          models={models}
          model={model}
          onModel={(id) => void navigate({ search: (old) => ({ ...old, model: id }), replace: true, resetScroll: false })}
          isStreamed={settings.isStreamed}
          onStream={(isStreamed) =>
            void navigate({
              search: (old) => compact({ ...old, stream: isStreamed ? undefined : ('no' as const) }),
              replace: true,
              resetScroll: false,
            })
          }
          typed={typed}
          onType={(change) => parameterStore.set({ ...parameterStore.get(), ...change })}
        />
        <CostCard turns={turns} />
      </div>
      <Card title={t.code}>
        <CodeBlock
          snippets={codeFor(body, settings.isStreamed)}
          chosenId={snippet}
          onChoose={(chosen) => void navigate({ search: (old) => ({ ...old, snippet: chosen }), replace: true, resetScroll: false })}
        />
      </Card>
    </div>
  );
}
