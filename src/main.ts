#!/usr/bin/env bun
import { Command } from 'commander';
import { accountCommand } from './commands/account.ts';
import { backupCommand } from './commands/backup.ts';
import { keyCommand } from './commands/key.ts';
import { ledgerCommand } from './commands/ledger.ts';
import { migrateCommand } from './commands/migrate.ts';
import { modelsCommand } from './commands/models.ts';
import { paymentsCommand } from './commands/payments.ts';
import { planCommand } from './commands/plan.ts';
import { promoCommand } from './commands/promo.ts';
import { providerCommand } from './commands/provider.ts';
import { serveCommand } from './commands/serve.ts';
import { usageCommand } from './commands/usage.ts';
import { VERSION } from './version.ts';

/** Runs the command line. */
async function main(): Promise<void> {
  const program = new Command('tollgate')
    .description('One gate in front of every AI model, and an honest toll.')
    .version(VERSION)
    .showHelpAfterError('(--help lists commands and options)')
    .hook('preAction', (_, command) => {
      // Unlike a command, the server keeps running when its output cannot be written.
      if (command.name() !== 'serve') process.stdout.on('error', endWithoutOutput);
    });
  const serverCommands = [serveCommand(), migrateCommand(), backupCommand()];
  const accountCommands = [accountCommand(), keyCommand(), modelsCommand(), providerCommand(), ledgerCommand(), usageCommand()];
  const billingCommands = [promoCommand(), planCommand(), paymentsCommand()];
  for (const command of [...serverCommands, ...accountCommands, ...billingCommands]) program.addCommand(inherit(program, command));
  await program.parseAsync();
}

/** Ends a command whose output cannot be written. A pipe closed by a reader such as `head` is normal; a full disk is reported. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') process.stderr.write(`The output could not be written: ${error.message}\n`);
  process.exit(1);
}

/** Makes subcommands handle errors in the same way as the program. */
function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const child of command.commands) inherit(command, child);
  return command;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
