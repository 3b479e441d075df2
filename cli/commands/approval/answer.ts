import { Command } from 'commander';
import type { OperatorAnswerReply, OperatorExtendReply } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { wrongUsage } from '../../failure.js';
import { parseDuration, parseText, readJson } from '../../parse-values.js';
import { reasonOption, workOf, type GlobalOptions, type ReasonOption } from '../options.js';
import { callPath } from './calls.js';

const CALL = ['<call>', 'as approval list prints it'] as const;

export function createApproveCommand(cli: Cli): Command {
  return new Command('approve')
    .description('Approve a call; its tool then runs.')
    .argument(...CALL)
    .option(
      '--input <json>',
      'run it with this input instead; @file reads it from a file',
      parseText,
    )
    .addOption(reasonOption())
    .action(async (call: string, given: { input?: string } & ReasonOption, self: Command) => {
      const { reason } = given;
      const input =
        given.input === undefined
          ? undefined
          : await readJson('--input', given.input, cli.terminal);
      await answer(cli, self, call, { approved: true, reason, input });
    });
}

export function createDenyCommand(cli: Cli): Command {
  return new Command('deny')
    .description('Deny a call; the agent gets the reason.')
    .argument(...CALL)
    .addOption(reasonOption().makeOptionMandatory())
    .action(async (call: string, { reason }: ReasonOption, self: Command) => {
      await answer(cli, self, call, { approved: false, reason });
    });
}

interface AnswerOptions extends ReasonOption {
  result?: string;
  error?: string;
}

export function createAnswerCommand(cli: Cli): Command {
  return new Command('answer')
    .description("Give the result of a call that a page should have carried out (a client's tool).")
    .argument(...CALL)
    .option('--result <json>', 'the result; @file reads it from a file', parseText)
    .option('--error <text>', 'why there is no result', parseText)
    .addOption(reasonOption())
    .action(async (call: string, { result, error, reason }: AnswerOptions, self: Command) => {
      if ((result === undefined) === (error === undefined)) {
        throw wrongUsage('Give --result or --error.');
      }
      const body =
        result === undefined
          ? { error }
          : { result: await readJson('--result', result, cli.terminal) };
      await answer(cli, self, call, { ...body, reason });
    });
}

export function createExtendCommand(cli: Cli): Command {
  return new Command('extend')
    .description('Extend the deadline of a call.')
    .argument(...CALL)
    .requiredOption('--by <duration>', 'how much longer', parseDuration)
    .addOption(reasonOption())
    .action(async (call: string, { by, reason }: { by: number } & ReasonOption, self: Command) => {
      const { api, output } = workOf<GlobalOptions>(cli, self);
      const body = { byMs: by, reason };
      const reply = await api.post<OperatorExtendReply>(callPath(call, '/extend'), body);
      const deadline = new Date(reply.deadline).toISOString();
      await output.text(reply, () => `The deadline is ${deadline}.`);
    });
}

async function answer(cli: Cli, self: Command, call: string, body: object): Promise<void> {
  const { api, output } = workOf<GlobalOptions>(cli, self);
  const reply = await api.post<OperatorAnswerReply>(callPath(call), body);
  await output.text(reply, () =>
    reply.resumed
      ? 'The answer is stored, and the run continues.'
      : 'The answer is stored; the run waits for others.',
  );
}
