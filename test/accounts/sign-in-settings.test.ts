import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, type Config } from '../../src/config.ts';

const SECRET = 'not-to-be-printed';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sign-in-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(variables: Readonly<Record<string, string>>, lines: readonly string[] = []): Config {
  const file = join(folder, 'settings.yaml');
  writeFileSync(file, lines.join('\n'));
  return loadConfig({ TOLLGATE_CONFIG: file, ...variables });
}

function mistakeOf(variables: Readonly<Record<string, string>>, lines: readonly string[] = []): string {
  try {
    load(variables, lines);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the settings were accepted');
}

describe('sign-in providers', () => {
  test('are empty without settings and with empty variables', () => {
    expect(load({}).signInProviders).toEqual([]);
    expect(load({ GITHUB_CLIENT_ID: '', OIDC_ISSUER: '' }).signInProviders).toEqual([]);
  });

  test('are read from the environment', () => {
    const { signInProviders } = load({
      GITHUB_CLIENT_ID: 'gh',
      GITHUB_CLIENT_SECRET: SECRET,
      GOOGLE_CLIENT_ID: 'go',
      GOOGLE_CLIENT_SECRET: SECRET,
      OIDC_ISSUER: 'https://id.example.com/realms/team/',
      OIDC_CLIENT_ID: 'own',
      OIDC_CLIENT_SECRET: SECRET,
    });
    expect(signInProviders).toEqual([
      { id: 'github', name: 'GitHub', clientId: 'gh', clientSecret: SECRET, issuer: undefined },
      { id: 'google', name: 'Google', clientId: 'go', clientSecret: SECRET, issuer: undefined },
      { id: 'oidc', name: 'Single sign-on', clientId: 'own', clientSecret: SECRET, issuer: 'https://id.example.com/realms/team' },
    ]);
  });

  test('are read from the file, which wins key by key', () => {
    const variables = { OIDC_ISSUER: 'https://old.example.com', OIDC_CLIENT_ID: 'own', ACME_SECRET: SECRET };
    const lines = ['accounts:', '  sign_in:', "    oidc: { name: Acme, issuer: 'http://127.0.0.1:9000', client_secret: '${ACME_SECRET}' }"];
    expect(load(variables, lines).signInProviders).toEqual([
      { id: 'oidc', name: 'Acme', clientId: 'own', clientSecret: SECRET, issuer: 'http://127.0.0.1:9000' },
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
    [
      'an incomplete set-up',
      { GITHUB_CLIENT_SECRET: SECRET },
      [],
      'accounts.sign_in.github: client_id is missing; set it there, or GITHUB_CLIENT_ID in the environment',
    ],
    [
      'a provider without an address',
      { OIDC_CLIENT_SECRET: SECRET },
      [],
      'accounts.sign_in.oidc: issuer and client_id are missing; set them there, or OIDC_ISSUER and OIDC_CLIENT_ID in the environment',
    ],
    [
      'an issuer without https',
      { OIDC_ISSUER: 'http://id.example.com' },
      [],
      'environment variable OIDC_ISSUER: must begin with https://, or be an address of this machine',
    ],
    [
      'an issuer that is not an address',
      { OIDC_ISSUER: 'id.example.com' },
      [],
      'environment variable OIDC_ISSUER: must be an address such as https://id.example.com',
    ],
    [
      'an issuer with a query',
      {},
      ['accounts:', '  sign_in:', '    oidc:', '      issuer: https://id.example.com/?a=b'],
      'line 4: accounts.sign_in.oidc.issuer: must be the address alone, without ? and #',
    ],
    [
      'an unknown provider',
      {},
      ['accounts:', '  sign_in:', '    facebook: {}'],
      'line 3: accounts.sign_in.facebook: unknown setting; docs/configuration.md lists the known ones',
    ],
  ])('%s is a mistake whose message says what to do and contains no secret', (_, variables, lines, expected) => {
    const mistake = mistakeOf(variables, lines);
    expect(mistake).toContain(expected);
    expect(mistake).not.toContain(SECRET);
  });
});
