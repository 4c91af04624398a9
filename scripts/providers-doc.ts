/** `bun scripts/providers-doc.ts`: writes the host and feature tables into the docs. A test fails if they differ from the code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Model } from '../src/catalog/catalog.ts';
import { loadConfig } from '../src/config.ts';
import { HOSTS, variablesOf } from '../src/providers/hosts.ts';
import type { Host, MessageQuirks, ReplyQuirks, RequestQuirks, ToolChoiceLimit } from '../src/providers/host.ts';
import { code, table } from './markdown.ts';
import { featureTable, meteringTable } from './support-matrix.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The pages with generated blocks, by path, and the blocks by name. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/providers.md': {
    hosts: () => `${hostTable()}\n\n${quirkTable()}`,
    features: () => featureTable(shippedModels()),
    metering: () => meteringTable(shippedModels()),
  },
  'docs/configuration.md': { hosts: variableTable },
};

const BLOCK = /(<!-- (\w+): written by scripts\/providers-doc\.ts -->\n\n)[^]*?(\n\n<!-- end of \2 -->)/gu;

/** Returns a page with its blocks regenerated. */
export function writeBlocks(path: string, page: string): string {
  return page.replaceAll(BLOCK, (_, start: string, name: string, end: string) => `${start}${PAGES[path]?.[name]?.() ?? ''}${end}`);
}

let shipped: readonly Model[] | undefined;

/** The shipped catalogue, regardless of local settings. Read once, because that takes a while. */
function shippedModels(): readonly Model[] {
  shipped ??= loadConfig({ TOLLGATE_CONFIG: '/dev/null' }).models;
  return shipped;
}

function hostTable(): string {
  const models = shippedModels();
  const rows = Object.entries(HOSTS).map(([id, host]) => {
    const count = models.filter((model) => model.routes.some((route) => route.provider === id)).length;
    return [code(id), host.name, code(host.addressVariable ?? host.keyVariable), code(host.baseUrl), String(count)];
  });
  return table(['id', 'host', 'enabled by', 'base URL', 'models in the catalogue'], rows);
}

function variableTable(): string {
  return table(
    ['name', 'provider'],
    Object.entries(HOSTS).flatMap(([id, host]) => variablesOf(host).map((name) => [code(name), code(id)])),
  );
}

function quirkTable(): string {
  const rows = Object.entries(HOSTS).map(([id, host]) => [
    code(id),
    joinNotes(requestNotes(host.request ?? {}), messageNotes(host.request?.messages ?? {}), modelNotes(host)),
    joinNotes(
      replyNotes(host.reply ?? {}),
      host.countsReasoningApart === true ? ['reasoning tokens counted in addition to the output'] : [],
    ),
  ]);
  return table(['id', 'changed in requests', 'changed in answers'], rows);
}

function requestNotes(quirks: RequestQuirks): string[] {
  const renames = Object.entries(quirks.renames ?? {}).map(([name, renamed]) => `${code(name)} sent as ${code(renamed)}`);
  const efforts = Object.keys(quirks.efforts ?? {});
  return [
    ...renames,
    ...list('left out', quirks.drops),
    ...Object.entries(quirks.narrows ?? {}).flatMap(([name, kept]) => list(`only these fields of ${code(name)}`, kept)),
    ...list('omitted without loss', quirks.omits),
    ...list('values translated', Object.keys(quirks.values ?? {})),
    ...(efforts.length === 0 ? [] : [`efforts mapped: ${efforts.map(code).join(', ')}`]),
    ...list('also knows', quirks.reasoningFields),
    ...toolChoiceNotes(quirks.toolChoice),
    ...list('added', Object.keys(quirks.adds ?? {})),
    ...(quirks.temperatureMax === undefined ? [] : [`${code('temperature')} at most ${quirks.temperatureMax}`]),
    ...noteIf(quirks.needsInlineMedia, 'media given by URL is put into the request'),
    ...noteIf(quirks.isSingleChoice, `one request per choice of ${code('n')}`),
    ...noteIf(quirks.hasNoJsonSchema, 'schemas described in the prompt'),
    ...noteIf(quirks.hasTypedSchemas, 'parameters of functions in a strict form'),
    ...noteIf(quirks.hasNoJsonMode, 'JSON without a schema requested in the prompt'),
    ...noteIf(quirks.hasNoJsonWithTools, 'JSON with tools requested in the prompt'),
    ...(quirks.cacheMarks === 'brief' ? ['cache marks limited to five minutes'] : []),
  ];
}

const TOOL_CHOICES: Readonly<Record<ToolChoiceLimit, string>> = {
  auto: 'no forced tool calls, and no tools instead of forbidden ones',
  unforced: 'no forced tool calls',
  unnamed: 'instead of a forced tool by name, no other tool',
  unthinking: 'forced tool calls without thinking',
};

function toolChoiceNotes(limit: ToolChoiceLimit | undefined): string[] {
  return limit === undefined ? [] : [TOOL_CHOICES[limit]];
}

function messageNotes(quirks: MessageQuirks): string[] {
  const roles = Object.entries(quirks.roles ?? {}).map(([role, renamed]) => `role ${code(role)} sent as ${code(renamed)}`);
  return [
    ...roles,
    ...list('left out of messages', quirks.drops),
    ...noteIf(quirks.stripsExtensions, 'extensions stripped from messages'),
    ...noteIf(quirks.hasThinkingParts, 'thinking parts kept'),
    ...noteIf(quirks.hasShortToolIds, 'tool-call ids of nine characters'),
    ...(quirks.toolIdCharactersMax === undefined ? [] : [`tool-call ids of at most ${quirks.toolIdCharactersMax} characters`]),
    ...noteIf(quirks.namesToolResults, 'tool results carry the function name'),
    ...noteIf(quirks.joinsSystem, 'all system messages joined at the start'),
    ...noteIf(quirks.joinsTurns, 'messages of one role in a row joined'),
    ...noteIf(quirks.answersResults, 'an answer between a tool result and a question'),
    ...(quirks.continues === undefined ? [] : [`${code(quirks.continues)} on a final assistant message`]),
    ...noteIf(quirks.wantsReasoning, 'reasoning on every assistant message'),
    ...noteIf(quirks.wantsReasoningOfCalls, 'reasoning with tool calls'),
    ...(quirks.reasoningField === undefined ? [] : [`earlier reasoning as ${code(quirks.reasoningField)}`]),
    ...(quirks.filePart === undefined ? [] : [`files as ${code(quirks.filePart)}`]),
  ];
}

function modelNotes({ models = [] }: Host): string[] {
  return models.map(
    ({
      pattern,
      drops,
      dropsWhileReasoning = [],
      reasonsByDefault,
      hasNoReasoningWithTools,
      hasNoEffortWithTools,
      hasNoTools,
      renames = {},
      efforts,
      toolChoice,
      messages,
    }) => {
      const whileReasoning = reasonsByDefault === true ? 'while reasoning, as they do by default' : 'while reasoning';
      const notes = [
        ...(drops.length === 0 ? [] : [`without ${drops.map(code).join(', ')}`]),
        ...(dropsWhileReasoning.length === 0 ? [] : [`without ${dropsWhileReasoning.map(code).join(', ')} ${whileReasoning}`]),
        ...noteIf(hasNoReasoningWithTools, `with ${code('reasoning_effort')} ${code('none')} if tools are used`),
        ...noteIf(hasNoEffortWithTools, `without ${code('reasoning_effort')} if tools are used`),
        ...noteIf(hasNoTools, `with ${code('tools')} refused`),
        ...Object.entries(renames).map(([name, renamed]) => `with ${code(name)} sent as ${code(renamed)}`),
        ...(efforts === undefined ? [] : ['with efforts mapped']),
        ...toolChoiceNotes(toolChoice).map((note) => `with ${note}`),
        ...messageNotes(messages ?? {}).map((note) => `with ${note}`),
      ];
      return `models like ${code(pattern.source.replaceAll('|', '\\|'))} ${notes.join(', ')}`;
    },
  );
}

function replyNotes(quirks: ReplyQuirks): string[] {
  const finishes = Object.entries(quirks.finish ?? {}).map(([reason, finish]) => `finish reason ${code(reason)} becomes ${code(finish)}`);
  const faults = Object.entries(quirks.faults ?? {}).map(([reason, status]) => `finish reason ${code(reason)} becomes an error ${status}`);
  return [
    ...(quirks.reasoningField === undefined ? [] : [`${code(quirks.reasoningField)} copied to ${code('reasoning_content')}`]),
    ...noteIf(quirks.repeatsReasoning, 'repeated reasoning sent once'),
    ...noteIf(quirks.hasThinkingParts, 'thinking parts moved out of the content'),
    ...noteIf(quirks.hasBareToolCalls, 'tool calls completed'),
    ...finishes,
    ...faults,
    ...noteIf(quirks.hasUsageInChoice, 'usage read from the choice'),
    ...list('cached tokens read from', quirks.cachedTokens),
    ...noteIf(quirks.countsCachedApart, 'cached tokens added if counted separately'),
    ...(quirks.statusObject === undefined ? [] : [`errors read from ${code(quirks.statusObject.name)}`]),
  ];
}

function list(what: string, names: readonly string[] | undefined): string[] {
  return names === undefined || names.length === 0 ? [] : [`${what}: ${names.map(code).join(', ')}`];
}

function noteIf(applies: true | undefined, note: string): string[] {
  return applies === true ? [note] : [];
}

function joinNotes(...notes: readonly string[][]): string {
  return notes.flat().join('; ');
}

if (import.meta.main) {
  for (const path of Object.keys(PAGES)) writeFileSync(join(ROOT, path), writeBlocks(path, readFileSync(join(ROOT, path), 'utf8')));
}
