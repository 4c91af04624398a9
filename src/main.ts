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

/** The command line. */
async function main(): Promise<void> {
  const program = new Command('tollgate')
    .description('One gate in front of every AI model, and an honest toll.')
    .version(VERSION)
    .showHelpAfterError('(--help shows what is possible)')
    .hook('preAction', (_, command) => {
      // Unlike a command, the server goes on when nobody reads its output.
      if (command.name() !== 'serve') process.stdout.on('error', endWithoutOutput);
    });
  const serving = [serveCommand(), migrateCommand(), backupCommand()];
  const keeping = [accountCommand(), keyCommand(), modelsCommand(), providerCommand(), ledgerCommand(), usageCommand()];
  const earning = [promoCommand(), planCommand(), paymentsCommand()];
  for (const command of [...serving, ...keeping, ...earning]) program.addCommand(inherit(program, command));
  await program.parseAsync();
}

/** A command whose result cannot be told ends. Nobody misses the rest of what `head` has closed; a full disk is news. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') process.stderr.write(`The output could not be written: ${error.message}\n`);
  process.exit(1);
}

/** Subcommands answer mistakes in the same way as the program. */
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
