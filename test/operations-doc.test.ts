import { describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { sql } from 'kysely';
import { buildCommandLine } from '../src/commands/command-line.ts';
import { connect } from '../src/database/connect.ts';
import { migrate } from '../src/database/migrate.ts';
import { openMetrics } from '../src/observe/metrics.ts';

/** Checks that docs/operations.md lists the commands, metrics and log lines that the program has, and that what the docs run exists. */

const ROOT = resolve(import.meta.dirname, '..');
const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
const program = await buildCommandLine();

/** Returns the rows of the tables below a heading, as lists of cells. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const lines = section.slice(0, section.search(/\n## /u)).split('\n');
  return lines.filter((line) => line.startsWith('| ')).map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/gu, '')));
}

function codeIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/gu)].map(([, code = '']) => code);
}

describe('the commands', () => {
  const documented = [...rowsBelow('Command line'), ...rowsBelow('Payments')].flatMap(([cell]) => codeIn(cell));

  test('are listed with every argument and option, and no other', () => {
    const written = documented.map(normalize).toSorted();
    expect(written).toEqual(leavesOf(program).map(synopsisOf).toSorted());
  });

  test('are explained by --help, with every argument and option', () => {
    const parts = leavesOf(program).flatMap((command) => [
      { name: pathOf(command), text: command.description() },
      ...[...command.options, ...command.registeredArguments].map((part) => ({
        name: `${pathOf(command)} ${part.name()}`,
        text: part.description,
      })),
    ]);
    expect(parts.filter(({ text }) => text.trim() === '')).toEqual([]);
  });

  test('all have --json, except the two that are named', () => {
    const without = leavesOf(program).filter(({ options }) => !options.some(({ long }) => long === '--json'));
    expect(without.map(pathOf)).toEqual(['serve', 'usage export']);
    expect(page.includes('Only `serve` and `usage export` do not have it.')).toBe(true);
  });
});

describe('every page', () => {
  const names = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))];
  const pages = names.map((name) => readFileSync(join(ROOT, existsSync(join(ROOT, name)) ? '' : 'docs', name), 'utf8'));
  const leaves = new Map(leavesOf(program).map((command) => [pathOf(command), command]));

  test('names only commands and options that exist', () => {
    const groups = program.commands.filter(({ commands }) => commands.length > 0);
    const named = new RegExp(`(?:\`|tollgate (?:-- )?)((?:${groups.map((group) => group.name()).join('|')}) [a-z-]+)\\b([^\`\n]*)`, 'gu');
    const logLines = new Set(rowsBelow('Logs').flatMap((cells) => cells.flatMap(codeIn)));
    const uses = pages.flatMap((text) => [...text.matchAll(named)]).filter(([text]) => !logLines.has(text.slice(1)));
    expect(uses.length).toBeGreaterThan(100);
    const wrong = uses.filter(([, path = '', rest = '']) => {
      const known = leaves.get(path)?.options.map(({ long }) => long) ?? [];
      return !leaves.has(path) || rest.match(/--[a-z-]+/gu)?.some((option) => option !== '--help' && !known.includes(option)) === true;
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
  });

  test('has only statements that the database understands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-statements-'));
    const { kysely } = await connect({ databaseUrl: undefined, databasePath: join(folder, 'tollgate.db') });
    await migrate(kysely, 'sqlite');
    const statements = pages
      .flatMap((text) => [...text.matchAll(/sqlite3 data\/tollgate\.db "([^"]+)"/gu)])
      .flatMap(([, text = '']) => text.split(';'));
    expect(statements.length).toBeGreaterThan(1);
    for (const statement of statements) await sql.raw(`EXPLAIN ${statement}`).execute(kysely);
    await kysely.destroy();
    rmSync(folder, { recursive: true });
  });
});

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

/** Writes a command as the docs do, with one word for every value, and its options in the order of the alphabet. */
function synopsisOf(command: Command): string {
  const options = command.options.filter(({ long }) => long !== '--json');
  const written = options.map(({ long, mandatory, required }) => {
    const option = required ? `${long} VALUE` : String(long);
    return mandatory ? option : `[${option}]`;
  });
  return [pathOf(command), ...command.registeredArguments.map(() => 'VALUE'), ...written.toSorted()].join(' ');
}

/** Writes a synopsis of the docs, such as `key rotate ID [--overlap T]`, in the same way. */
function normalize(synopsis: string): string {
  const options = [...synopsis.matchAll(/\[--[^\]]+\]|--[a-z-]+(?: [^\s[\]-][^\s[\]]*)?/gu)].map(([text]) => text);
  const command = synopsis.slice(0, synopsis.search(/ \[?--|$/u)).replaceAll(/ [A-Z]+\b/gu, ' VALUE');
  return [command, ...options.map((option) => option.replace(/ [^\]]+/u, ' VALUE')).toSorted()].join(' ');
}

test('the metrics are listed with their labels and types, and no others', async () => {
  const metrics = openMetrics(() => ({
    ledger: { waitingCount: 0, setAsideCount: 2 },
    pausedRoutes: [{ provider: 'east', model: 'large' }],
  }));
  metrics.verified([{ name: 'R1 sums', ok: true, difference: '0', places: [] }], 1000);
  const text = await metrics.render();
  const exposed = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gmu)].map(([, name = '', type]) => {
    const [, labels = ''] = new RegExp(`^${name}\\{([^}]*)\\}`, 'mu').exec(text) ?? [];
    const names = [...labels.matchAll(/(\w+)="/gu)].map(([, label]) => label).join(',');
    return `${name}${names === '' ? '' : `{${names}}`} ${type}`;
  });
  const documented = rowsBelow('Metrics').flatMap(([cell, type]) => {
    const [name = ''] = codeIn(cell);
    return type === 'counter' || type === 'gauge' ? [`${name} ${type}`] : [];
  });
  expect(documented.toSorted()).toEqual(exposed.toSorted());
  const named = page.match(/\btollgate_[a-z]+_[a-z_]+/gu) ?? [];
  expect(named.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
});

/** The functions that take the text of a log line as `event`. Each call of theirs is found by its name. */
const REPORTERS = ['lifecycle', 'internalError', 'onFailure', 'fail', 'failed'];
const sources = readSources('src');

describe('the log', () => {
  test('has every line of the code, with its level, and no other', () => {
    const documented = rowsBelow('Logs').flatMap(([level, events]) => {
      const lines = codeIn(events).filter((code) => !code.startsWith('"'));
      return codeIn(level).flatMap((name) => lines.map((line) => `${name}: ${line}`));
    });
    expect(documented.toSorted()).toEqual([...new Set([...ownLines(), ...reportedLines()])].toSorted());
  });

  test('has the alarms of the code, and no others', () => {
    const rows = rowsBelow('Logs').filter(([, events = '']) => events.includes('`"alert":true`'));
    const documented = rows.map(([level, events]) => `${codeIn(level).join()}: ${codeIn(events)[0]}`);
    expect(documented.toSorted()).toEqual(ownLines((call) => call.includes('alert: true')).toSorted());
    expect(documented).not.toEqual([]);
  });

  test('is written by the functions that this test knows', () => {
    const found = sources.flatMap((text) => [...text.matchAll(/(\w+)(?:: )?\(event: string/gu)].map(([, name = '']) => name));
    const typed = sources.flatMap((text) => [...text.matchAll(/(\w+): On(?:Carried)?Failure\b/gu)].map(([, name = '']) => name));
    const names = new Set([...found, ...typed]);
    expect([...names].filter((name) => !REPORTERS.includes(name))).toEqual([]);
  });
});

/** Returns the lines that the log itself words. */
function ownLines(isWanted: (call: string) => boolean = () => true): string[] {
  const text = readFileSync(join(ROOT, 'src/observe/log.ts'), 'utf8');
  const calls = text.matchAll(/logger\.(debug|info|warn|error)\([^;]*?'([^']+)',?\s*\)/gu);
  return [...calls].filter(([call]) => isWanted(call)).map(([, level, line]) => `${level}: ${line}`);
}

/** Returns the lines that other parts word: literals, templates and constants that a reporter gets. */
function reportedLines(): string[] {
  const call = new RegExp(
    `#?\\b(${REPORTERS.join('|')}|clock)\\((?:[A-Z_]+, )?\\s*(?:'([^']+)'|"([^"]+)"|\`([^\`]+)\`|([A-Z_]+)\\b)`,
    'gu',
  );
  return sources.flatMap((text) =>
    [...text.matchAll(call)].map(([, reporter, single, double, template, constant]) => {
      const line = single ?? double ?? template ?? constantOf(text, constant ?? '');
      return `${reporter === 'lifecycle' ? 'info' : 'error'}: ${line.replaceAll(/\$\{[^}]*\}/gu, '…')}`;
    }),
  );
}

function constantOf(text: string, name: string): string {
  return new RegExp(`const ${name} =\\s*'([^']+)'`, 'u').exec(text)?.[1] ?? `the constant ${name}`;
}

function readSources(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}
