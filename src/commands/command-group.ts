import { Command } from 'commander';

/** A group of commands, such as `key`, and a function that adds one to it. */
interface CommandGroup {
  readonly group: Command;
  readonly add: (name: string, description: string) => Command;
}

/** Creates a group of commands. */
export function commandGroup(groupName: string, groupDescription: string): CommandGroup {
  const group = new Command(groupName).description(groupDescription);
  return { group, add: (name, description) => group.command(name).description(description) };
}

/** Adds `--json` to every command of a group: see `JsonOption`. */
export function withJson(group: Command): Command {
  for (const command of group.commands) command.option('--json', 'print one JSON object');
  return group;
}
