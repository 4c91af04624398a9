import { expect, test } from 'bun:test';
import { join, resolve } from 'node:path';
import { isPage, PAGE_PATHS } from '../../src/dashboard/page-paths.ts';

const WEB = resolve(import.meta.dirname, '../../web');

/** Reads the paths of a file of routes. The route `$` stands for every unknown address. */
async function readRoutes(file: string, prefix: string): Promise<string[]> {
  const text = await Bun.file(join(WEB, file)).text();
  const paths = Array.from(text.matchAll(/^ {2}path: '(.+)',$/gmu), ([, path = '']) => path);
  return paths.filter((path) => path !== '$' && path !== '/admin').map((path) => (prefix + path).replace(/(?<=.)\/$/u, ''));
}

test('the server knows every page of the browser side, and no others', async () => {
  const routes = [...(await readRoutes('routes.tsx', '')), ...(await readRoutes('admin-routes.tsx', '/admin'))];
  expect(PAGE_PATHS.toSorted()).toEqual(routes.toSorted() as never);
});

test.each([
  ['/', true],
  ['/Status', true],
  ['/keys/key_1', true],
  ['/admin/accounts/acct_1', true],
  ['/admin/view/acct_1', true],
  ['/admin/view/acct_1/overview', true],
  ['/admin/view/acct_1/keys/key_1', true],
  ['/nowhere', false],
  ['/keys/key_1/more', false],
  ['/keys/$id/more', false],
  ['/admin/nowhere', false],
  ['/admin/view', false],
  ['/admin/view/acct_1/nowhere', false],
  ['/admin/view/acct_1/settings', false],
  ['/admin/view/acct_1/admin/accounts', false],
  ['/admin/view/acct_1/statement', false],
  ['/wp-login.php', false],
])('%s is a page: %p', (path, expected) => expect(isPage(path)).toBe(expected));
