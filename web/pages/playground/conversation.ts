import { useEffect } from 'react';
import { sendChat } from '../../chat.ts';
import type { ChatAnswer, ChatBody, ChatMessage } from '../../chat.ts';
import { playgroundSecret } from '../../playground-key.ts';
import { accountQuery, queryClient } from '../../queries.ts';
import type { ListedModel } from '../../queries.ts';
import { createStore, useStore } from '../../store.ts';
import { announce } from '../../ui/announcer.tsx';

/** A question and its answer. */
export interface Turn {
  readonly id: number;
  /** The model asked; the next question may go to another one. */
  readonly model: ListedModel;
  readonly question: string;
  readonly answer: string;
  /** Undefined while the answer is in progress. */
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

/** Settings of a call, apart from its messages. */
export interface Settings {
  readonly model: ListedModel;
  readonly system: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly isStreamed: boolean;
}

/** Timeout for an answer. */
const TIMEOUT_MS = 10 * 60 * 1000;

/** Kept while the user visits other pages of the dashboard, because every turn was paid for. */
const conversationStore = createStore<readonly Turn[]>([]);
let lastId = 0;
let running: AbortController | undefined;

/** Returns the current conversation and the actions on it. */
export function useConversation(): Conversation {
  const turns = useStore(conversationStore);
  // Stop the answer when the user leaves the playground, because every token costs money.
  useEffect(() => stop, []);
  return { turns, isAnswering: turns.some(isUnanswered), send, stop, clear };
}

async function send(question: string, settings: Settings): Promise<void> {
  lastId += 1;
  const id = lastId;
  const before = conversationStore.get();
  const change = (update: (turn: Turn) => Partial<Turn>): void =>
    conversationStore.set(conversationStore.get().map((turn) => (turn.id === id ? { ...turn, ...update(turn) } : turn)));
  const abort = new AbortController();
  running = abort;
  conversationStore.set([...before, { id, model: settings.model, question, answer: '', result: undefined, failure: undefined }]);
  try {
    const result = await sendChat({
      secret: await playgroundSecret(),
      body: bodyOf(before, question, settings),
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(TIMEOUT_MS)]),
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
  conversationStore.set([]);
}

function isUnanswered({ result, failure }: Turn): boolean {
  return result === undefined && failure === undefined;
}

/** Returns the request body: the conversation so far without failed turns, and the new question. */
export function bodyOf(turns: readonly Turn[], question: string, { model, system, parameters }: Settings): ChatBody {
  const history = turns
    .filter(({ failure, answer }) => failure === undefined && answer !== '')
    .flatMap(({ question: previousQuestion, answer }): ChatMessage[] => [
      { role: 'user', content: previousQuestion },
      { role: 'assistant', content: answer },
    ]);
  const before: ChatMessage[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  return { model: model.id, messages: [...before, ...history, { role: 'user', content: question }], ...parameters };
}
