/**
 * `bun scripts/replay.ts FOLDER`: replays recorded provider responses through a running gate, requests them with the official
 * client, and compares the result and the charge with the recordings. Exits with code 1 on any difference.
 */
import { statSync } from 'node:fs';
import OpenAI from 'openai';
import { ask } from '../test/clients/conversation.ts';
import { describeModel, startGate } from '../test/simulator/gate.ts';
import { UsageRows } from '../test/simulator/usage-rows.ts';
import { differencesOf } from './replay/compare.ts';
import { playsOf, providerSettings, type Play } from './replay/plays.ts';
import { readRecordings, type Recording, type Unread } from './replay/recording.ts';
import { startUpstream } from './replay/upstream.ts';

const PRICE = { input: 2.5, cached_input: 1.25, cache_write: 3.125, output: 10 };
const TOKENS_MAX = 10_000_000;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: bun scripts/replay.ts FOLDER');
  process.exit(2);
}
if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
  console.error(`There is no folder ${folder}.`);
  process.exit(2);
}
const found = readRecordings(folder);
const recordings = found.filter((one): one is Recording => 'framing' in one);
const unread = found.filter((one): one is Unread => 'reason' in one);
const results = await playAll(playsOf(recordings));
for (const line of table(results)) console.log(line);
for (const { path, reason, isBroken } of unread) console.log(`${isBroken ? 'FAILED' : 'left out'}  ${path} ${reason}`);
const failures = results.filter(({ differences }) => differences.length > 0).length + unread.filter(({ isBroken }) => isBroken).length;
console.log(`${recordings.length} recordings, ${results.length} plays, ${failures} failed`);
process.exit(failures > 0 || results.length === 0 ? 1 : 0);

interface Result {
  readonly play: Play;
  readonly differences: readonly string[];
}

async function playAll(plays: readonly Play[]): Promise<Result[]> {
  const byId = new Map(plays.map((play) => [play.id, play]));
  const upstream = startUpstream((id) => byId.get(id));
  const used = new Set(plays.map(({ provider }) => provider));
  const providers = Object.entries(providerSettings(upstream.origin)).filter(([id]) => used.has(id));
  const gate = await startGate({
    simulator: { baseUrl: `${upstream.origin}/chat`, apiKey: 'key' },
    providers: Object.fromEntries(providers),
    models: plays.map(({ id, provider }) => ({
      ...describeModel(id, provider, PRICE),
      context_length: TOKENS_MAX,
      max_output_tokens: TOKENS_MAX,
      routes: [{ provider, model: id }],
    })),
  });
  const { secret } = await gate.makeKey({ rpm: 1_000_000, tpm: 1_000_000_000, creditUsd: '100000' });
  const client = new OpenAI({ baseURL: gate.baseUrl, apiKey: secret, maxRetries: 0 });
  const rows = new UsageRows(gate.dataFolder);
  const done: Result[] = [];
  for (const play of plays) {
    const outcome = await ask(client, { model: play.id, messages: [{ role: 'user', content: 'Hi' }] }, play.recording.isStream);
    done.push({ play, differences: differencesOf(play.recording.expected, outcome, rows.find(outcome.requestId)) });
  }
  rows.close();
  await gate.stop();
  await upstream.stop();
  return done;
}

function table(rows: readonly Result[]): string[] {
  const width = Math.max(0, ...rows.map(({ play }) => play.recording.path.length));
  return rows.flatMap(({ play, differences }) => {
    const { path, expected } = play.recording;
    const said = expected.type === 'answer' ? '' : expected.type === 'failure' ? ', an error' : ', goes on elsewhere';
    const line = `${differences.length === 0 ? 'ok    ' : 'FAILED'}  ${path.padEnd(width)}  as ${play.as}${play.isCut ? ', in small pieces' : ''}${said}`;
    return [line, ...differences.map((difference) => `        ${difference}`)];
  });
}
