import { expect, test } from 'bun:test';
import { curlCommand } from '../../web/curl.ts';

const BASH = Bun.which('bash');
const JSON_TEXT = `{"content":"it's $HOME \`date\` !! \\\\ \\"quoted\\" *"}`;

/** Pastes a command into a shell where curl prints what it was given. Like zsh, the shell refuses patterns that match no file. */
async function paste(command: string): Promise<string[]> {
  const script = `shopt -s failglob; curl() { printf '%s\\n' "$@"; }\n${command}\n`;
  const shell = Bun.spawn([BASH ?? '', '-c', script], { env: { TOLLGATE_API_KEY: 'sk-from-environment' }, stderr: 'inherit' });
  return (await new Response(shell.stdout).text()).trimEnd().split('\n');
}

test.skipIf(BASH === null).each(['https://gate.example.com/v1/chat/completions', 'http://[::1]:8787/v1/chat/completions'])(
  'a shell passes on to curl exactly what an example for %s says',
  async (url) => {
    expect(await paste(curlCommand({ url, json: JSON_TEXT, isStreamed: true }))).toEqual([
      '-N',
      url,
      '-H',
      'Authorization: Bearer sk-from-environment',
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON_TEXT,
    ]);
    expect(await paste(curlCommand({ url, secret: 'sk-fresh' }))).toEqual([url, '-H', 'Authorization: Bearer sk-fresh']);
  },
);
