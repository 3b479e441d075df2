import { Command } from 'commander';
import type { Cli } from '../../cli.js';
import {
  createAnswerCommand,
  createApproveCommand,
  createDenyCommand,
  createExtendCommand,
} from './answer.js';
import { createDescribeCommand, createListCommand } from './list.js';

/** `approval`: what waits for people. */
export function createApprovalCommands(cli: Cli): Command {
  const noun = new Command('approval').description('See and answer what waits for people.');
  const verbs = [
    createListCommand(cli),
    createDescribeCommand(cli),
    createApproveCommand(cli),
    createDenyCommand(cli),
    createAnswerCommand(cli),
    createExtendCommand(cli),
  ];
  for (const verb of verbs) noun.addCommand(verb);
  return noun;
}
