import { useEffect, useRef, useState } from 'react';
import { sendChat } from '../../chat.ts';
import type { ChatAnswer, ChatBody, ChatMessage } from '../../chat.ts';
import { playgroundSecret } from '../../playground-key.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { announce } from '../../ui/announcer.tsx';

/** A question and what came of it. */
export interface Turn {
  readonly id: number;
  /** Who was asked; the next question may go to another. */
  readonly model: ListedModel;
  readonly question: string;
  readonly answer: string;
  /** Undefined while the answer is on its way. */
  readonly result: ChatAnswer | undefined;
  readonly failure: string | undefined;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly isAnswering: boolean;
  readonly send: (question: string, settings: Settings) => Promise<void>;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** Everything of a call but its messages. */
export interface Settings {
  readonly model: ListedModel;
  readonly system: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly isStreamed: boolean;
}

/** The longest answer that is waited for. */
const TIMEOUT_MS = 10 * 60 * 1000;

/** A conversation with a model, kept in this page only. */
export function useConversation(): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = useRef<AbortController>(undefined);
  // Nobody reads on after the page was left, and every word costs.
  useEffect(() => () => running.current?.abort(), []);
  const change = (id: number, update: (turn: Turn) => Partial<Turn>): void =>
    setTurns((old) => old.map((turn) => (turn.id === id ? { ...turn, ...update(turn) } : turn)));

  const send = async (question: string, settings: Settings): Promise<void> => {
    const id = (turns.at(-1)?.id ?? 0) + 1;
    const stopping = new AbortController();
    running.current = stopping;
    setTurns([...turns, { id, model: settings.model, question, answer: '', result: undefined, failure: undefined }]);
    try {
      const result = await sendChat({
        secret: await playgroundSecret(),
        body: bodyOf(turns, question, settings),
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        ...(settings.isStreamed && { onText: (piece: string) => change(id, ({ answer }) => ({ answer: answer + piece })) }),
      });
      change(id, () => ({ result, answer: result.text, failure: result.error }));
      announce(result.error ?? result.text);
    } catch (error) {
      change(id, () => ({ failure: error instanceof Error ? error.message : String(error) }));
    }
    await queryClient.invalidateQueries({ queryKey: accountQuery.queryKey });
  };

  return {
    turns,
    isAnswering: turns.some(isOpen),
    send,
    stop: () => running.current?.abort(),
    clear: () => {
      running.current?.abort();
      setTurns([]);
    },
  };
}

function isOpen({ result, failure }: Turn): boolean {
  return result === undefined && failure === undefined;
}

/** The call as it is sent: what was said so far, without turns that failed. */
export function bodyOf(turns: readonly Turn[], question: string, { model, system, parameters }: Settings): ChatBody {
  const said = turns
    .filter(({ failure, answer }) => failure === undefined && answer !== '')
    .flatMap(({ question: asked, answer }): ChatMessage[] => [
      { role: 'user', content: asked },
      { role: 'assistant', content: answer },
    ]);
  const before: ChatMessage[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return { model: model.id, messages: [...before, ...said, { role: 'user', content: question }], ...parameters };
}
