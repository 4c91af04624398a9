import { Link } from '@tanstack/react-router';
import { Send, Square } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { FormEvent, JSX, KeyboardEvent, RefObject } from 'react';
import { formatMs } from '../../numbers.ts';
import { playground as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import type { Conversation, Turn } from './conversation.ts';

interface TalkProps {
  readonly conversation: Conversation;
  readonly onSend: (question: string) => void;
}

/** Within this distance from its end, the conversation counts as scrolled to the end. */
const NEAR_PX = 40;
/** Last automatic scroll position; undefined once the user has scrolled back. */
type FollowPosition = number | undefined;
const FOLLOW: FollowPosition = 0;

/** The conversation, and the input for the next question. */
export function Talk({ conversation, onSend }: TalkProps): JSX.Element {
  const { turns } = conversation;
  const follow = useRef<FollowPosition>(FOLLOW);
  const clear =
    turns.length === 0 ? undefined : (
      <Button size="sm" onClick={conversation.clear}>
        {t.clear}
      </Button>
    );
  return (
    <Card title={t.conversation} actions={clear} isFlush className="flex flex-col">
      <div
        role="log"
        aria-label={t.conversation}
        tabIndex={0}
        onScroll={({ currentTarget: box }) => {
          if (box.scrollHeight - box.clientHeight - box.scrollTop < NEAR_PX) follow.current = box.scrollTop;
        }}
        className="min-h-72 flex-1 overflow-y-auto focus-visible:-outline-offset-2 lg:max-h-[calc(100dvh-22rem)]"
      >
        {turns.length === 0 ? <EmptyState {...t.empty} /> : turns.map((turn) => <TurnText key={turn.id} turn={turn} />)}
        <AutoScroll of={turns} follow={follow} />
      </div>
      <Composer
        conversation={conversation}
        onSend={(question) => {
          follow.current = FOLLOW;
          onSend(question);
        }}
      />
    </Card>
  );
}

function TurnText({ turn }: { readonly turn: Turn }): JSX.Element {
  const { result, failure } = turn;
  return (
    <div className="border-line px-4 py-4 not-first:border-t sm:px-5">
      <p className="label-caps">{t.you}</p>
      <p dir="auto" className="mt-1 break-words whitespace-pre-wrap">
        {turn.question}
      </p>
      <p className="label-caps mt-4">{turn.model.name}</p>
      <p dir="auto" className="mt-1 break-words whitespace-pre-wrap">
        {turn.answer}
        {result === undefined && failure === undefined && (
          <span aria-hidden="true" className="ml-0.5 inline-block h-4 w-1.5 translate-y-0.5 animate-shimmer bg-accent" />
        )}
      </p>
      {failure !== undefined && (
        <p role="alert" className="mt-1 text-sm text-bad">
          {failure}
        </p>
      )}
      {result !== undefined && (
        <p className="mt-2 flex flex-wrap gap-x-4 text-xs text-muted">
          <span className="figures">{formatMs(result.durationMs)}</span>
          {result.isStopped && <span>{t.stopped}</span>}
          {result.finishReason !== undefined && <span>{t.finish(result.finishReason)}</span>}
          {result.requestId !== undefined && (
            <Link to="/requests" search={{ request: result.requestId }} className="link">
              {t.request}
            </Link>
          )}
        </p>
      )}
    </div>
  );
}

interface AutoScrollProps {
  readonly of: readonly Turn[];
  readonly follow: RefObject<FollowPosition>;
}

/** Scrolls to the newest text as it streams in, unless the user has scrolled back. */
function AutoScroll({ of: turns, follow }: AutoScrollProps): JSX.Element {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = end.current?.parentElement;
    if (box === null || box === undefined || follow.current === undefined) return;
    const hasScrolledBack = box.scrollTop < follow.current;
    if (!hasScrolledBack) box.scrollTop = box.scrollHeight;
    follow.current = hasScrolledBack ? undefined : box.scrollTop;
  }, [turns, follow]);
  return <div ref={end} />;
}

function Composer({ conversation, onSend }: Pick<TalkProps, 'conversation' | 'onSend'>): JSX.Element {
  const [text, setText] = useState('');
  const { isAnswering } = conversation;
  const submit = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault();
    if (isAnswering || text.trim() === '') return;
    onSend(text);
    setText('');
  };
  return (
    <form onSubmit={submit} className="flex items-end gap-2 border-t border-line p-3 sm:p-4">
      <TextArea
        aria-label={t.message}
        placeholder={t.placeholder}
        rows={2}
        value={text}
        onText={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
        }}
      />
      {isAnswering ? (
        // Ignore the second press of a double click that was meant for the send button in the same place.
        <Button onClick={({ detail }) => detail < 2 && conversation.stop()}>
          <Square aria-hidden="true" />
          {t.stop}
        </Button>
      ) : (
        <Button type="submit" variant="primary" disabled={text.trim() === ''}>
          <Send aria-hidden="true" />
          {t.send}
        </Button>
      )}
    </form>
  );
}
