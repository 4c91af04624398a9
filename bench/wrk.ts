import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeFaults, encodeBody, type LoadGenerator, type LoadPlan, type LoadResult } from './load.ts';
import type { Stage } from './stage.ts';

const REQUEST_TIMEOUT_SECONDS = 30;
const EXIT_GRACE_MS = 60_000;
const RESULT_MARK = 'tollgate-bench-result';

/** Generates load with `wrk`, which is written in C and leaves most of a small machine to the candidate. */
export function createWrkGenerator(stage: Stage): LoadGenerator {
  return async (plan) => {
    const scriptPath = join(stage.makeFolder('wrk'), 'load.lua');
    writeFileSync(scriptPath, renderScript(plan));
    const command = [
      'wrk',
      '--threads=1',
      `--connections=${plan.connections}`,
      `--duration=${plan.seconds}s`,
      `--timeout=${REQUEST_TIMEOUT_SECONDS}s`,
      '--latency',
      `--script=${scriptPath}`,
      plan.endpoint.url,
    ] as const;
    return readResult(await stage.run({ name: 'wrk', command }, plan.seconds * 1000 + EXIT_GRACE_MS));
  };
}

function renderScript(plan: LoadPlan): string {
  const headers = { 'content-type': 'application/json', ...plan.endpoint.headers };
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`);
  return `wrk.method = "POST"
wrk.body = ${quote(encodeBody(plan.endpoint.model, plan.kind))}
${lines.join('\n')}
${plan.secrets === undefined ? '' : renderTurns(plan.secrets)}
function done(summary, latency)
  local errors = summary.errors
  print(string.format("${RESULT_MARK} %d %d %d %d %d %d %d %d", summary.requests,
    latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect, errors.read, errors.write, errors.timeout))
end
`;
}

/** Every request has the next key. */
function renderTurns(secrets: readonly string[]): string {
  return `local secrets = { ${secrets.map(quote).join(', ')} }
local turn = 0
function request()
  turn = turn % #secrets + 1
  wrk.headers["authorization"] = "Bearer " .. secrets[turn]
  return wrk.format()
end`;
}

/** Quotes a text for Lua. A JSON string is also a Lua string, since the text has no control characters. */
function quote(text: string): string {
  return JSON.stringify(text);
}

function readResult(output: string): LoadResult {
  const line = output.split('\n').find((each) => each.startsWith(RESULT_MARK));
  if (line === undefined) throw new Error(`wrk printed no result:\n${output}`);
  const [completed = 0, p50Micros = 0, p99Micros = 0, status = 0, ...socket] = line.split(' ').slice(1).map(Number);
  const [connect = 0, read = 0, write = 0, timeout = 0] = socket;
  return {
    completed,
    p50Ms: p50Micros / 1000,
    p99Ms: p99Micros / 1000,
    faults: describeFaults({
      'answers were not 200': status,
      'connections failed': connect,
      'answers were cut off': read,
      'requests could not be sent': write,
      'requests timed out': timeout,
    }),
  };
}
