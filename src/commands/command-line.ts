import { Command } from 'commander';
import { readNamed } from './options.ts';
import type { StopSignal } from '../stop-signal.ts';
import { VERSION } from '../version.ts';

/** In the order of `--help`. Each is loaded only when it is needed: loading all of them takes longer than most commands. */
const COMMANDS = new Map<string, (stop: StopSignal | undefined) => Promise<Command>>([
  ['serve', async (stop) => (await import('./serve.ts')).serveCommand(stop)],
  ['migrate', async () => (await import('./migrate.ts')).migrateCommand()],
  ['backup', async () => (await import('./backup.ts')).backupCommand()],
  ['account', async () => (await import('./account.ts')).accountCommand()],
  ['key', async () => (await import('./key.ts')).keyCommand()],
  ['models', async () => (await import('./models.ts')).modelsCommand()],
  ['provider', async () => (await import('./provider.ts')).providerCommand()],
  ['ledger', async () => (await import('./ledger.ts')).ledgerCommand()],
  ['usage', async () => (await import('./usage.ts')).usageCommand()],
  ['promo', async () => (await import('./promo.ts')).promoCommand()],
  ['plan', async () => (await import('./plan.ts')).planCommand()],
  ['payments', async () => (await import('./payments.ts')).paymentsCommand()],
]);

/** Runs the command line; ends the process with exit code 1 if a command fails. */
export async function runCommandLine(stop: StopSignal | undefined): Promise<void> {
  try {
    const program = await buildCommandLine(stop, process.argv[2]);
    await program.parseAsync();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

/** Builds the command with this name, or all of them for any other name, such as `--help`. A test checks that docs/operations.md lists them. */
export async function buildCommandLine(stop?: StopSignal, name = ''): Promise<Command> {
  const program = new Command('tollgate')
    .description('One gate in front of every AI model, and an honest toll.')
    .version(VERSION)
    .showHelpAfterError('(--help lists commands and options)')
    .hook('preAction', (_, command) => {
      // Unlike a command, the server keeps running when its output cannot be written.
      if (command.name() !== 'serve') process.stdout.on('error', endWithoutOutput);
    });
  const named = COMMANDS.get(name);
  const needed = named === undefined ? [...COMMANDS.values()] : [named];
  const commands = await Promise.all(needed.map((load) => load(stop)));
  for (const command of commands) program.addCommand(inherit(program, command));
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
