import { useEffect } from 'react';
import { sendChat } from '../../chat.ts';
import type { ChatAnswer, ChatBody, ChatMessage } from '../../chat.ts';
import { playgroundSecret } from '../../playground-key.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { createStore, useStore } from '../../store.ts';
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

/** It lasts as long as the page is open, wherever in it somebody goes meanwhile: every turn was paid for. */
const kept = createStore<readonly Turn[]>([]);
let lastId = 0;
let running: AbortController | undefined;

/** The conversation with models. */
export function useConversation(): Conversation {
  const turns = useStore(kept);
  // Nobody reads on after the playground was left, and every word costs.
  useEffect(() => stop, []);
  return { turns, isAnswering: turns.some(isOpen), send, stop, clear };
}

async function send(question: string, settings: Settings): Promise<void> {
  lastId += 1;
  const id = lastId;
  const before = kept.get();
  const change = (update: (turn: Turn) => Partial<Turn>): void =>
    kept.set(kept.get().map((turn) => (turn.id === id ? { ...turn, ...update(turn) } : turn)));
  const stopping = new AbortController();
  running = stopping;
  kept.set([...before, { id, model: settings.model, question, answer: '', result: undefined, failure: undefined }]);
  try {
    const result = await sendChat({
      secret: await playgroundSecret(),
      body: bodyOf(before, question, settings),
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      ...(settings.isStreamed && { onText: (piece: string) => change(({ answer }) => ({ answer: answer + piece })) }),
    });
    change(() => ({ result, answer: result.text, failure: result.error }));
    announce(result.error ?? result.text);
  } catch (error) {
    change(() => ({ failure: error instanceof Error ? error.message : String(error) }));
  }
  await queryClient.invalidateQueries({ queryKey: accountQuery.queryKey });
}

function stop(): void {
  running?.abort();
}

function clear(): void {
  stop();
  kept.set([]);
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
