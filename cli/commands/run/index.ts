import { Command } from 'commander';
import type { Cli } from '../../cli.js';
import { createActCommands } from './act.js';
import { createForkCommand } from './fork.js';
import { createDescribeCommand, createShowCommand } from './describe.js';
import { createCountCommand, createListCommand } from './list.js';
import { createWatchCommand } from './watch.js';

/** `run`: what agents do and did. */
export function createRunCommands(cli: Cli): Command {
  const noun = new Command('run').description('See, stop, resume, repeat and fork runs.');
  const verbs = [
    createListCommand(cli),
    createCountCommand(cli),
    createDescribeCommand(cli),
    createShowCommand(cli),
    createWatchCommand(cli),
    ...createActCommands(cli),
    createForkCommand(cli),
  ];
  for (const verb of verbs) noun.addCommand(verb);
  return noun;
}
