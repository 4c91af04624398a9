import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { formatUsdExact } from '../../money.ts';
import { formatCount } from '../../numbers.ts';
import { costOf } from '../../price.ts';
import { modelsQuery } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { landing } from '../../strings/index.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useExampleModel } from './example-model.ts';

const t = landing.equation;
const TOKENS = { input: 1240, output: 385 } as const;
const NO_TOKENS = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 } as const;

/** Cost of an example request with a model of this gate, line by line. */
export function Equation(): JSX.Element | null {
  const model = useExampleModel();
  const { isPending } = useQuery(modelsQuery);
  if (model === undefined && !isPending) return null;
  return (
    <figure className="rounded-lg border border-line bg-raised shadow-float">
      <figcaption className="flex items-center justify-between gap-4 border-b border-line px-5 py-3">
        <span className="text-sm font-semibold">{t.title}</span>
      </figcaption>
      {model === undefined ? (
        <div className="flex flex-col gap-3 p-5">
          <Skeleton />
          <Skeleton />
          <Skeleton className="w-2/3" />
        </div>
      ) : (
        <Lines model={model} />
      )}
    </figure>
  );
}

function Lines({ model }: { readonly model: ListedModel }): JSX.Element {
  return (
    <div className="px-5 pt-3 pb-4">
      <p className="flex justify-between gap-4 text-sm">
        <span className="text-muted">{t.model}</span>
        <code className="truncate font-mono text-[0.8125rem]">{model.id}</code>
      </p>
      <dl className="figures mt-3 text-[0.8125rem] sm:text-sm">
        {(['input', 'output'] as const).map((kind) => (
          <div key={kind} className="flex flex-wrap items-baseline justify-between gap-x-4 border-t border-line py-2.5">
            <dt>
              {formatCount(TOKENS[kind])} {t[kind]}
              <span className="text-muted">
                {' '}
                × {formatUsdExact(model.price[kind])} {t.perMillion}
              </span>
            </dt>
            <dd className="ml-auto">{formatUsdExact(costOf(model, { ...NO_TOKENS, [kind]: TOKENS[kind] }))}</dd>
          </div>
        ))}
        <div className="ruled-total flex items-baseline justify-between gap-4 pt-3 pb-1 text-lg font-medium">
          <dt>{t.total}</dt>
          <dd>{formatUsdExact(costOf(model, { ...NO_TOKENS, ...TOKENS }))}</dd>
        </div>
      </dl>
      <p className="mt-3 text-xs text-muted">{t.hint}</p>
    </div>
  );
}
