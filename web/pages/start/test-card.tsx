import { useMutation } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import type { JSX } from 'react';
import { sendChat } from '../../chat.ts';
import type { ChatAnswer } from '../../chat.ts';
import { formatMs } from '../../numbers.ts';
import { playgroundSecret } from '../../playground-key.ts';
import { usdOf } from '../../price.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { start } from '../../strings/index.ts';
import { announce } from '../../ui/announcer.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Money } from '../../ui/money.tsx';
import { Stat } from '../../ui/stat.tsx';
import { startQuery } from './steps.tsx';

const t = start.test;
const TIMEOUT_MS = 60_000;
const OUTPUT_TOKENS_MAX = 64;

interface TestCardProps {
  readonly model: ListedModel | undefined;
  readonly secret: string | undefined;
}

/** One small call from this page. With the key that was just made, or with one that only this page has. */
export function TestCard({ model, secret }: TestCardProps): JSX.Element {
  const test = useMutation({
    mutationFn: async (modelId: string) =>
      sendChat({
        secret: secret ?? (await playgroundSecret()),
        body: { model: modelId, messages: [{ role: 'user', content: start.prompt }], max_completion_tokens: OUTPUT_TOKENS_MAX },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }),
    onSettled: async (answer) => {
      if (answer !== undefined) announce(`${t.status} ${answer.status ?? '–'}. ${answer.error ?? answer.text}`);
      await Promise.all([startQuery, accountQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })));
    },
  });
  return (
    <Card title={t.title} hint={model === undefined ? t.none : t.text(model.id)}>
      <Button
        variant="primary"
        isBusy={test.isPending}
        disabled={model === undefined}
        onClick={() => model !== undefined && test.mutate(model.id)}
      >
        <Send aria-hidden="true" />
        {t.action}
      </Button>
      {test.error !== null && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {test.error.message}
        </p>
      )}
      {test.data !== undefined && <Outcome answer={test.data} />}
    </Card>
  );
}

function Outcome({ answer }: { readonly answer: ChatAnswer }): JSX.Element {
  const { usage, status, error } = answer;
  return (
    <div className="mt-4 border-t border-line pt-4">
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={t.status} value={<Badge tone={status === 200 ? 'good' : 'bad'}>{status ?? '–'}</Badge>} />
        <Stat label={t.tokens} value={usage === undefined ? '–' : `${usage.inputTokens} / ${usage.outputTokens}`} />
        <Stat label={t.cost} value={usage?.cost === undefined ? '–' : <Money usd={usdOf(usage.cost)} />} />
        <Stat label={t.time} value={formatMs(answer.durationMs)} />
      </div>
      <p className={error === undefined ? 'mt-4 text-sm' : 'mt-4 text-sm text-bad'}>{error ?? answer.text}</p>
      {answer.requestId !== undefined && (
        <p className="mt-2 text-xs text-muted">
          <Copyable text={answer.requestId} what={t.requestId} />
        </p>
      )}
    </div>
  );
}
