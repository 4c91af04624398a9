import type { Command } from 'commander';
import { COMMAND_LINE } from '../accounts/audit.ts';
import { DisabledProviders } from '../catalog/disabled-providers.ts';
import { commandGroup, withJson } from './command-group.ts';
import { formatTime, print, withSession, type JsonOption } from './session.ts';

/** `provider list|disable|enable`. */
export function providerCommand(): Command {
  const { group, add } = commandGroup('provider', 'Providers, and whether requests go to them.');
  add('list', 'list the configured providers').action(list);
  add('disable', 'take a provider out of service; its routes are skipped within a second')
    .argument('<id>', 'the provider, as `provider list` shows it')
    .action(disable);
  add('enable', 'put a provider back into service').argument('<id>', 'the provider, as `provider list` shows it').action(enable);
  return withJson(group);
}

async function list(options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    const disabled = new Map((await new DisabledProviders(database).list()).map((each) => [each.provider, each]));
    const providers = [...config.providers.keys()].map((id) => {
      const { disabledBy, disabledAtMs } = disabled.get(id) ?? {};
      return { id, disabled_by: disabledBy ?? null, disabled_at: formatTime(disabledAtMs) };
    });
    const lines = providers.map(({ id, disabled_by: by, disabled_at: at }) => (by === null ? id : `${id}, disabled by ${by} at ${at}`));
    print({ providers }, options, lines);
  });
}

async function disable(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    if (!config.providers.has(id)) throw noSuchProvider(id);
    await new DisabledProviders(database).disable(id, COMMAND_LINE);
    print({ id, disabled: true }, options, [`${id} is out of service`]);
  });
}

async function enable(id: string, options: JsonOption): Promise<void> {
  await withSession(async ({ config, database }) => {
    const wasDisabled = await new DisabledProviders(database).enable(id, COMMAND_LINE);
    // A provider that is off may have been disabled before.
    if (!wasDisabled && !config.providers.has(id)) throw noSuchProvider(id);
    print({ id, disabled: false }, options, [`${id} is in service`]);
  });
}

function noSuchProvider(id: string): Error {
  return new Error(`There is no provider ${id}, or it is off. List them with: provider list`);
}
