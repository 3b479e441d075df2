import { Command } from 'commander';
import type { OperatorAnswerReply, OperatorExtendReply } from '../../../protocol/operator.js';
import type { Cli } from '../../cli.js';
import { wrongUsage } from '../../failure.js';
import { parseDuration, parseText, readJson } from '../../parse-values.js';
import { reasonOption, workOf, type GlobalOptions, type ReasonOption } from '../options.js';
import { addBatchOptions, runBatch, type BatchOptions } from '../batch/run-batch.js';
import { addRunFilter, isEmpty, toRunQuery, type RunFilter } from '../run/run-filter.js';
import { callPath } from './calls.js';

const CALL = ['<call>', 'as approval list prints it'] as const;
const CALL_OR_FILTER = ['[call]', 'as approval list prints it'] as const;

interface DecideOptions extends GlobalOptions, RunFilter, BatchOptions, ReasonOption {
  input?: string;
  tool?: string;
}

export function createApproveCommand(cli: Cli): Command {
  const command = new Command('approve')
    .summary('approve calls')
    .description('Approve a call; its tool then runs. Name one, or select many with a filter.')
    .argument(...CALL_OR_FILTER)
    .option(
      '--input <json>',
      'run it with this input instead; @file reads it from a file',
      parseText,
    )
    .addOption(reasonOption());
  return addFilter(command).action(
    async (call: string | undefined, given: DecideOptions, self: Command) => {
      if (await decidedMany(cli, self, call, 'approve')) return;
      const { reason } = given;
      const input =
        given.input === undefined
          ? undefined
          : await readJson('--input', given.input, cli.terminal);
      await answer(cli, self, call ?? '', { approved: true, reason, input });
    },
  );
}

export function createDenyCommand(cli: Cli): Command {
  const command = new Command('deny')
    .summary('deny calls')
    .description('Deny a call; the agent gets the reason. Name one, or select many with a filter.')
    .argument(...CALL_OR_FILTER)
    .addOption(reasonOption().makeOptionMandatory());
  return addFilter(command).action(
    async (call: string | undefined, { reason }: DecideOptions, self: Command) => {
      if (await decidedMany(cli, self, call, 'deny')) return;
      await answer(cli, self, call ?? '', { approved: false, reason });
    },
  );
}

function addFilter(command: Command): Command {
  return addBatchOptions(
    addRunFilter(command).option('--tool <name>', 'only calls of this tool', parseText),
  );
}

/** True if a filter was given instead of a call. */
async function decidedMany(
  cli: Cli,
  self: Command,
  call: string | undefined,
  act: 'approve' | 'deny',
): Promise<boolean> {
  const work = workOf<DecideOptions>(cli, self);
  const { tool, input, reason, ...options } = work.options;
  const hasFilter = !isEmpty(options) || tool !== undefined;
  if ((call !== undefined) === hasFilter) {
    throw wrongUsage('Name a call, or select calls with -q, --status, --agent, --since or --tool.');
  }
  if (call !== undefined) return false;
  if (input !== undefined) throw wrongUsage('--input is for one call.');
  const filter = { ...toRunQuery(options, cli.now()), tool };
  await runBatch(cli, work, { act, filter, reason });
  return true;
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
