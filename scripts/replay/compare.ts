import OpenAI from 'openai';
import type { Outcome, SaidChoice } from '../../test/clients/conversation.ts';
import type { UsageRow } from '../../test/simulator/usage-rows.ts';
import type { Expected, ExpectedChoice, ExpectedUsage } from './expected.ts';

/** Returns how the client's result and the ledger's row differ from the recording. The list should be empty. */
export function differencesOf(expected: Expected, outcome: Outcome, row: UsageRow | undefined): string[] {
  if (expected.type === 'part') return [];
  if (expected.type === 'failure') return differencesOfFailure(outcome, row);
  if (outcome.failure !== undefined) return [`failed: ${explain(outcome.failure)}`];
  return [
    ...outcome.complaints,
    ...differ('choices', outcome.choices.length, expected.choices.length),
    ...expected.choices.flatMap((choice, index) => differencesOfChoice(outcome.choices[index], choice)),
    ...differencesOfUsage(outcome, expected.usage, row),
  ];
}

/** Checks that an error arrives as one of the client's own errors and costs nothing. */
function differencesOfFailure({ failure }: Outcome, row: UsageRow | undefined): string[] {
  return [
    ...(failure instanceof OpenAI.APIError ? [] : [`expected an error of the provider: ${explain(failure)}`]),
    ...differ('cost', row?.cost, 0n),
  ];
}

function differencesOfChoice(said: SaidChoice | undefined, expected: ExpectedChoice): string[] {
  if (said === undefined) return ['a choice is missing'];
  const names = ['content', 'reasoning', 'refusal', 'finish'] as const;
  return [
    ...names.flatMap((name) => differ(name, said[name], expected[name])),
    ...differ('tool calls', said.calls.length, expected.calls.length),
    ...expected.calls.flatMap((call, index) => {
      const made = said.calls[index];
      if (made === undefined) return [];
      return [
        ...(call.id === undefined ? [] : differ('id of a tool call', made.id, call.id)),
        ...differ('name of a tool call', made.name, call.name),
        ...differ('arguments', normalize(made.arguments), normalize(call.json === '' ? '{}' : call.json)),
      ];
    }),
  ];
}

/** Normalizes JSON, in which spaces do not count. Arguments cut off at the limit are not JSON and must match exactly. */
function normalize(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return `not JSON: ${json}`;
  }
}

function differencesOfUsage({ usage }: Outcome, expected: ExpectedUsage | undefined, row: UsageRow | undefined): string[] {
  if (usage === undefined) return ['there is no usage'];
  if (row === undefined) return ['the ledger has no row'];
  const { prompt, completion, total, cost } = usage;
  return [
    ...differ('total tokens', total, prompt + completion),
    ...differ('cost', Math.round((cost ?? Number.NaN) * 1e9), Number(row.cost)),
    ...differ('prompt of the ledger', Number(row.input_tokens + row.cached_input_tokens + row.cache_write_tokens), prompt),
    ...differ('completion of the ledger', Number(row.output_tokens), completion),
    ...differ('counted by ourselves', row.is_estimated, expected === undefined ? 1n : 0n),
    ...(expected === undefined
      ? []
      : (['prompt', 'completion', 'cached', 'written', 'reasoning'] as const).flatMap((name) =>
          differ(`${name} tokens`, usage[name], expected[name]),
        )),
  ];
}

function explain(failure: unknown): string {
  return failure instanceof Error ? failure.message : 'nothing went wrong';
}

function differ(what: string, got: unknown, wanted: unknown): string[] {
  return got === wanted ? [] : [`${what}: got ${show(got)}, the recording says ${show(wanted)}`];
}

const SHOWN_CHARACTERS_MAX = 300;

function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}
