/** `bun scripts/providers-doc.ts`: writes the tables of hosts and of what they support into the docs. A test fails when they are not as the code has them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Model } from '../src/catalog/catalog.ts';
import { loadConfig } from '../src/config.ts';
import { HOSTS, variablesOf } from '../src/providers/compatible.ts';
import type { Host, MessageQuirks, ReplyQuirks, RequestQuirks } from '../src/providers/host.ts';
import { code, table } from './markdown.ts';
import { featureTable, meteringTable } from './support-matrix.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The pages with blocks that are written here, by their paths, and the blocks by their names. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/providers.md': {
    hosts: () => `${hostTable()}\n\n${quirkTable()}`,
    features: () => featureTable(shippedModels()),
    metering: () => meteringTable(shippedModels()),
  },
  'docs/configuration.md': { hosts: variableTable },
};

const BLOCK = /(<!-- (\w+): written by scripts\/providers-doc\.ts -->\n\n)[^]*?(\n\n<!-- end of \2 -->)/gu;

/** A page with its blocks as the code has them. */
export function writeBlocks(path: string, page: string): string {
  return page.replaceAll(BLOCK, (_, start: string, name: string, end: string) => `${start}${PAGES[path]?.[name]?.() ?? ''}${end}`);
}

let shipped: readonly Model[] | undefined;

/** The catalogue as it is shipped, whatever the settings of this folder say. Read once: that takes a while. */
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
  return table(['id', 'host', 'switched on by', 'base address', 'models in the catalogue'], rows);
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
    sentences(requestNotes(host.request ?? {}), messageNotes(host.request?.messages ?? {}), modelNotes(host)),
    sentences(replyNotes(host.reply ?? {}), host.countsReasoningApart === true ? ['reasoning counted beside the output'] : []),
  ]);
  return table(['id', 'changed in requests', 'changed in answers'], rows);
}

function requestNotes(quirks: RequestQuirks): string[] {
  const renames = Object.entries(quirks.renames ?? {}).map(([name, renamed]) => `${code(name)} is ${code(renamed)}`);
  const efforts = Object.keys(quirks.efforts ?? {});
  return [
    ...renames,
    ...list('left out', quirks.drops),
    ...Object.entries(quirks.narrows ?? {}).flatMap(([name, kept]) => list(`of ${code(name)} only`, kept)),
    ...list('not needed', quirks.omits),
    ...list('other values', Object.keys(quirks.values ?? {})),
    ...(efforts.length === 0 ? [] : [`efforts in its own words: ${efforts.map(code).join(', ')}`]),
    ...list('added', Object.keys(quirks.adds ?? {})),
    ...(quirks.temperatureMax === undefined ? [] : [`${code('temperature')} at most ${quirks.temperatureMax}`]),
    ...when(quirks.isSingleChoice, `asked once for each of ${code('n')}`),
    ...when(quirks.hasNoJsonSchema, 'a schema told in words'),
    ...when(quirks.hasNoJsonWithTools, 'JSON beside tools asked for in words'),
    ...(quirks.cacheMarks === 'brief' ? ['cache marks for five minutes at most'] : []),
  ];
}

function messageNotes(quirks: MessageQuirks): string[] {
  const roles = Object.entries(quirks.roles ?? {}).map(([role, renamed]) => `role ${code(role)} is ${code(renamed)}`);
  return [
    ...roles,
    ...list('not in messages', quirks.drops),
    ...when(quirks.stripsExtensions, 'extensions stripped from messages'),
    ...when(quirks.hasThinkingParts, 'thinking parts kept'),
    ...when(quirks.hasShortToolIds, 'tool ids of nine signs'),
    ...(quirks.toolIdCharactersMax === undefined ? [] : [`tool ids of at most ${quirks.toolIdCharactersMax} signs`]),
    ...when(quirks.namesToolResults, 'tool results named'),
    ...(quirks.continues === undefined ? [] : [`${code(quirks.continues)} on a last message of the assistant`]),
    ...when(quirks.wantsReasoning, 'reasoning on every message of the assistant'),
    ...when(quirks.wantsReasoningOfCalls, 'reasoning beside tool calls'),
    ...(quirks.reasoningField === undefined ? [] : [`earlier reasoning as ${code(quirks.reasoningField)}`]),
    ...(quirks.filePart === undefined ? [] : [`files as ${code(quirks.filePart)}`]),
  ];
}

function modelNotes({ models = [] }: Host): string[] {
  return models
    .filter(({ drops, efforts }) => drops.length > 0 || efforts !== undefined)
    .map(({ pattern, drops, dropsWhileReasoning = [], hasNoReasoningWithTools, efforts, messages }) => {
      const notes = [
        ...(drops.length === 0 ? [] : [`without ${drops.map(code).join(', ')}`]),
        ...(dropsWhileReasoning.length === 0 ? [] : [`without ${dropsWhileReasoning.map(code).join(', ')} while they reason`]),
        ...when(hasNoReasoningWithTools, `with ${code('reasoning_effort')} ${code('none')} beside tools`),
        ...(efforts === undefined ? [] : ['with efforts in their own words']),
        ...messageNotes(messages ?? {}).map((note) => `with ${note}`),
      ];
      return `models like ${code(pattern.source.replaceAll('|', '\\|'))} ${notes.join(', ')}`;
    });
}

function replyNotes(quirks: ReplyQuirks): string[] {
  const finishes = Object.entries(quirks.finish ?? {}).map(([reason, finish]) => `ends with ${code(reason)}: ${code(finish)}`);
  const faults = Object.entries(quirks.faults ?? {}).map(([reason, status]) => `ends with ${code(reason)}: an error like ${status}`);
  return [
    ...(quirks.reasoningField === undefined ? [] : [`${code(quirks.reasoningField)} also as ${code('reasoning_content')}`]),
    ...when(quirks.repeatsReasoning, 'reasoning that is repeated told once'),
    ...when(quirks.hasThinkingParts, 'thinking parts taken out of the content'),
    ...when(quirks.hasBareToolCalls, 'tool calls numbered'),
    ...finishes,
    ...faults,
    ...when(quirks.hasUsageInChoice, 'usage found in the choice'),
    ...list('cached tokens found in', quirks.cachedTokens),
    ...when(quirks.countsCachedApart, 'cached tokens that are counted apart added'),
    ...(quirks.statusObject === undefined ? [] : [`errors found in ${code(quirks.statusObject.name)}`]),
  ];
}

function list(what: string, names: readonly string[] | undefined): string[] {
  return names === undefined || names.length === 0 ? [] : [`${what}: ${names.map(code).join(', ')}`];
}

function when(isSo: true | undefined, note: string): string[] {
  return isSo === true ? [note] : [];
}

function sentences(...notes: readonly string[][]): string {
  return notes.flat().join('; ');
}

if (import.meta.main) {
  for (const path of Object.keys(PAGES)) writeFileSync(join(ROOT, path), writeBlocks(path, readFileSync(join(ROOT, path), 'utf8')));
}
