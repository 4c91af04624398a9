import { useMutation } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import type { JSX } from 'react';
import { sendChat } from '../chat.ts';
import type { ChatAnswer } from '../chat.ts';
import { formatMs } from '../numbers.ts';
import { usdOf } from '../price.ts';
import { testCall as t } from '../strings/index.ts';
import { announce } from './announcer.tsx';
import { Badge } from './badge.tsx';
import { Button } from './button.tsx';
import { Card } from './card.tsx';
import { Copyable } from './copyable.tsx';
import { Money } from './money.tsx';
import { Stat } from './stat.tsx';

const TIMEOUT_MS = 60_000;
const OUTPUT_TOKENS_MAX = 64;

interface TestCallCardProps {
  readonly hint: string | undefined;
  readonly isReady: boolean;
  readonly className?: string;
  /** Returns the secret and the model to call; runs when the button is pressed. */
  readonly prepare: () => Promise<{ readonly secret: string; readonly model: string }>;
  /** Reloads the data that the call has changed. */
  readonly onDone: () => Promise<unknown>;
}

/** Makes one small call to a model from this page, as any client would, and shows the result. */
export function TestCallCard({ hint, isReady, className, prepare, onDone }: TestCallCardProps): JSX.Element {
  const test = useMutation({
    mutationFn: async () => {
      const { secret, model } = await prepare();
      const body = { model, messages: [{ role: 'user' as const, content: t.prompt }], max_completion_tokens: OUTPUT_TOKENS_MAX };
      return { model, ...(await sendChat({ secret, body, signal: AbortSignal.timeout(TIMEOUT_MS) })) };
    },
    onSettled: async (answer) => {
      if (answer !== undefined) announce(`${t.status} ${answer.status ?? '–'}. ${answer.error ?? answer.text}`);
      await onDone();
    },
  });
  return (
    <Card title={t.title} hint={hint} {...(className !== undefined && { className })}>
      <Button variant="primary" isBusy={test.isPending} disabled={!isReady} onClick={() => test.mutate()}>
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

function Outcome({ answer }: { readonly answer: ChatAnswer & { readonly model: string } }): JSX.Element {
  const { usage, status, error, model } = answer;
  return (
    <div className="mt-4 border-t border-line pt-4">
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        <Stat label={t.status} value={<Badge tone={status === 200 ? 'good' : 'bad'}>{status ?? '–'}</Badge>} />
        <Stat label={t.tokens} value={usage === undefined ? '–' : `${usage.inputTokens} / ${usage.outputTokens}`} />
        <Stat label={t.cost} value={usage?.cost === undefined ? '–' : <Money usd={usdOf(usage.cost)} />} />
        <Stat label={t.time} value={formatMs(answer.durationMs)} />
      </div>
      <p className={error === undefined ? 'mt-4 text-sm' : 'mt-4 text-sm text-bad'}>{error ?? answer.text}</p>
      <p className="mt-2 flex flex-wrap gap-x-4 text-xs text-muted">
        <Copyable text={model} what={t.model} />
        {answer.requestId !== undefined && <Copyable text={answer.requestId} what={t.requestId} />}
      </p>
    </div>
  );
}
