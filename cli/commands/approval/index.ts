import { Command } from 'commander';
import type { Cli } from '../../cli.js';
import { CliFailure } from '../../failure.js';
import { parseDuration } from '../../parse-values.js';
import { limitOption, noteMore, workOf, type GlobalOptions, type ListOptions } from '../options.js';
import {
  createAnswerCommand,
  createApproveCommand,
  createDenyCommand,
  createExtendCommand,
} from './answer.js';
import { ASKED, findAsked, readWaiting, toDetails, WAITING } from './calls.js';

/** `approval`: questions to people. */
export function createApprovalCommands(cli: Cli): Command {
  return new Command('approval')
    .description('See and answer what waits for people.')
    .addCommand(createListCommand(cli))
    .addCommand(createDescribeCommand(cli))
    .addCommand(createApproveCommand(cli))
    .addCommand(createDenyCommand(cli))
    .addCommand(createAnswerCommand(cli))
    .addCommand(createExtendCommand(cli));
}

function createListCommand(cli: Cli): Command {
  return new Command('list')
    .description('List what waits for people, longest first.')
    .option('--older-than <duration>', 'only what has waited so long', parseDuration)
    .addOption(limitOption())
    .action(async (_, self: Command) => {
      const work = workOf<ListOptions & { olderThan?: number }>(cli, self);
      const { options, api, output } = work;
      await output.list(WAITING, readWaiting(api, options, noteMore(cli, options.limit)));
    });
}

function createDescribeCommand(cli: Cli): Command {
  return new Command('describe')
    .description('Show one call that waits, with all of its input.')
    .argument('<call>', 'as approval list prints it')
    .action(async (call: string, _, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      const found = await findAsked(api, call);
      if (found === undefined) throw new CliFailure(`${call} does not wait for anyone.`);
      await output.one(ASKED, found, toDetails(found));
    });
}
