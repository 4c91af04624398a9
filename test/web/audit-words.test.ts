import { expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { adminAudit } from '../../web/strings/admin-audit.ts';

const SOURCES = resolve(import.meta.dirname, '../../src');
const ACTION = /(?:action: |auditOf\(\w+, |\? |: |ACTION = )'((?:[a-z-]+\.[a-z_]+)|backup|close|credit|export)'/gu;

test('every action that is recorded has a name in the audit log', async () => {
  const recorded = new Set<string>();
  for await (const path of new Bun.Glob('{accounts,catalog,commands,dashboard,payments,usage}/**/*.ts').scan(SOURCES)) {
    const text = await Bun.file(resolve(SOURCES, path)).text();
    if (!/recordAudit|recordAction|insertInto\('audit'\)/u.test(text)) continue;
    for (const [, action = ''] of text.matchAll(ACTION)) recorded.add(action);
  }
  expect([...recorded].toSorted()).toEqual(Object.keys(adminAudit.actions).toSorted());
});
