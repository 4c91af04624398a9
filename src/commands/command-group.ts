import { Command } from 'commander';

/** Commands about one thing, such as `key`, and a way to add another of them. */
interface CommandGroup {
  readonly group: Command;
  readonly add: (name: string, description: string) => Command;
}

/** Begins a group of commands. */
export function commandGroup(groupName: string, groupDescription: string): CommandGroup {
  const group = new Command(groupName).description(groupDescription);
  return { group, add: (name, description) => group.command(name).description(description) };
}

/** Lets every command of a group print its result as JSON: see `JsonOption`. */
export function withJson(group: Command): Command {
  for (const command of group.commands) command.option('--json', 'print one JSON object');
  return group;
}
