import { Command } from 'commander';
import { accountCommand } from './account.ts';
import { backupCommand } from './backup.ts';
import { keyCommand } from './key.ts';
import { ledgerCommand } from './ledger.ts';
import { migrateCommand } from './migrate.ts';
import { modelsCommand } from './models.ts';
import { readNamed } from './options.ts';
import { paymentsCommand } from './payments.ts';
import { planCommand } from './plan.ts';
import { promoCommand } from './promo.ts';
import { providerCommand } from './provider.ts';
import { serveCommand } from './serve.ts';
import { usageCommand } from './usage.ts';
import type { StopSignal } from '../stop-signal.ts';
import { VERSION } from '../version.ts';

/** Runs the command line; ends the process with exit code 1 if a command fails. */
export async function runCommandLine(stop: StopSignal | undefined): Promise<void> {
  try {
    await buildCommandLine(stop).parseAsync();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Builds all commands with their options. A test checks that docs/operations.md lists them. */
export function buildCommandLine(stop: StopSignal | undefined): Command {
  const program = new Command('tollgate')
    .description('One gate in front of every AI model, and an honest toll.')
    .version(VERSION)
    .showHelpAfterError('(--help lists commands and options)')
    .hook('preAction', (_, command) => {
      // Unlike a command, the server keeps running when its output cannot be written.
      if (command.name() !== 'serve') process.stdout.on('error', endWithoutOutput);
    });
  const serverCommands = [serveCommand(stop), migrateCommand(), backupCommand()];
  const accountCommands = [accountCommand(), keyCommand(), modelsCommand(), providerCommand(), ledgerCommand(), usageCommand()];
  const billingCommands = [promoCommand(), planCommand(), paymentsCommand()];
  for (const command of [...serverCommands, ...accountCommands, ...billingCommands]) program.addCommand(inherit(program, command));
  return program;
}

/** Ends a command whose output cannot be written. A pipe closed by a reader such as `head` is normal; a full disk is reported. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code !== 'EPIPE') process.stderr.write(`The output could not be written: ${error.message}\n`);
  process.exit(1);
}

/** Makes subcommands handle errors in the same way as the program, and errors name the option at fault. The help marks the options that are required. */
function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const option of command.options) {
    if (option.mandatory) option.description += ' (required)';
    const read = option.parseArg;
    if (read !== undefined) option.argParser((text, previous) => readNamed(option.long ?? option.flags, () => read(text, previous)));
  }
  for (const child of command.commands) inherit(command, child);
  return command;
}
