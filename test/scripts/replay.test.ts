import { expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const FIXTURES = join(ROOT, 'test', 'fixtures', 'replies');

async function replay(...folder: string[]): Promise<{ code: number; lines: string[] }> {
  const child = Bun.spawn([process.execPath, 'scripts/replay.ts', ...folder], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' });
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, lines: output.join('').trimEnd().split('\n') };
}

test('every recording arrives unchanged and is charged by its own counts', async () => {
  const { code, lines } = await replay(FIXTURES);
  expect(lines.filter((line) => !/^(?:ok|left out) /u.test(line))).toEqual([expect.stringMatching(/ 0 failed$/u) as unknown as string]);
  expect(code).toBe(0);
  const files = readdirSync(FIXTURES, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name } of files) expect(lines.some((line) => line.includes(name))).toBe(true);
});

test('a missing folder is reported in one line', async () => {
  expect(await replay('/nowhere')).toEqual({ code: 2, lines: ['There is no folder /nowhere.'] });
  expect(await replay('package.json')).toEqual({ code: 2, lines: ['There is no folder package.json.'] });
});

test('a difference, a broken file and an empty folder are failures', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-replay-'));
  try {
    expect((await replay(folder)).code).toBe(1);
    cpSync(join(FIXTURES, 'gemini'), join(folder, 'gemini'), { recursive: true });
    writeFileSync(join(folder, 'gemini', 'broken.json'), '{"candidates": [');
    // A stream that ends in the middle of its text is not a complete answer.
    const half = { candidates: [{ content: { role: 'model', parts: [{ text: 'Half an' }] }, index: 0 }] };
    writeFileSync(join(folder, 'gemini', 'cut-off.chunks.txt'), JSON.stringify(half));
    const { code, lines } = await replay(folder);
    expect(code).toBe(1);
    expect(lines.filter((line) => line.startsWith('FAILED')).map((line) => line.split(/\s+/u)[1])).toEqual([
      'gemini/cut-off.chunks.txt',
      'gemini/cut-off.chunks.txt',
      'gemini/broken.json',
    ]);
    expect(lines.at(-1)).toEndWith(' 3 failed');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('without a folder it prints its usage', async () => {
  expect(await replay()).toEqual({ code: 2, lines: ['usage: bun scripts/replay.ts FOLDER'] });
});
