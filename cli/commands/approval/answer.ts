import { Command, Option } from 'commander';
import type { AnswerReply, ExtendReply } from '../../../protocol/replies.js';
import { SUITED } from '../../../protocol/act-on-each.js';
import { parseApprovalId } from '../../../protocol/ids.js';
import type { ShownCall } from '../../../protocol/shown-call.js';
import type { Cli } from '../../cli.js';
import { confirm } from '../../terminal.js';
import { wrongUsage } from '../../failure.js';
import { parseDuration, parseText, readJson } from '../../parse-values.js';
import {
  reasonOption,
  workOf,
  yesOption,
  type GlobalOptions,
  type ReasonOption,
  type Work,
} from '../options.js';
import { actOnFound, addManyOptions, type ManyOptions } from '../many.js';
import { addRunFilter, findRuns, isEmpty, toRunQuery, type RunFilter } from '../run/run-filter.js';
import {
  ASKED,
  callPath,
  findAsked,
  isApprovalId,
  readWaiting,
  toDetails,
  WAITING,
  type AskedCall,
} from './calls.js';

const CALL = ['<call>', 'as approval list prints it'] as const;
const CALL_OR_FILTER = ['[call]', 'as approval list prints it'] as const;

interface DecideOptions extends GlobalOptions, RunFilter, ManyOptions, ReasonOption {
  input?: string;
  tool?: string;
  inputHash?: string;
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
    .addOption(hashOption())
    .addOption(reasonOption());
  return addFilter(command).action(
    async (call: string | undefined, given: DecideOptions, self: Command) => {
      if (await decidedMany(cli, self, call, 'approve')) return;
      const { reason, inputHash } = given;
      const input =
        given.input === undefined
          ? undefined
          : await readJson('--input', given.input, cli.terminal);
      const body = { approved: true, reason, input };
      await answer(cli, self, call ?? '', { ask: 'Approve this?', body, inputHash });
    },
  );
}

export function createDenyCommand(cli: Cli): Command {
  const command = new Command('deny')
    .summary('deny calls')
    .description('Deny a call; the agent gets the reason. Name one, or select many with a filter.')
    .argument(...CALL_OR_FILTER)
    .addOption(hashOption())
    .addOption(reasonOption().makeOptionMandatory());
  return addFilter(command).action(
    async (call: string | undefined, { reason, inputHash }: DecideOptions, self: Command) => {
      if (await decidedMany(cli, self, call, 'deny')) return;
      const body = { approved: false, reason };
      await answer(cli, self, call ?? '', { ask: 'Deny this?', body, inputHash });
    },
  );
}

function addFilter(command: Command): Command {
  return addManyOptions(
    addRunFilter(command).option('--tool <name>', 'only calls of this tool', parseText),
  );
}

/** Decides all matching calls; returns false if a call was named instead of a filter. */
async function decidedMany(
  cli: Cli,
  self: Command,
  call: string | undefined,
  act: 'approve' | 'deny',
): Promise<boolean> {
  const work = workOf<DecideOptions>(cli, self);
  const { tool, input, reason, inputHash, ...options } = work.options;
  const hasFilter = !isEmpty(options) || tool !== undefined;
  if ((call !== undefined) === hasFilter) {
    throw wrongUsage('Name a call, or select calls with -q, --status, --agent, --since or --tool.');
  }
  if (call !== undefined) return false;
  if (input !== undefined) throw wrongUsage('--input is for one call.');
  if (inputHash !== undefined) throw wrongUsage('--input-hash is for one call.');
  const { yes } = options;
  // Undefined means all runs.
  const runs = isEmpty(options) ? undefined : new Set<string>();
  if (runs !== undefined) {
    const open = await findRuns(work.api, toRunQuery(options, cli.now()), SUITED.stop);
    for (const { runId } of open) runs.add(runId);
  }
  const found = [];
  let notYours = 0;
  for await (const asked of readWaiting(work.api)) {
    const { kind, toolName, mayDecide, approvalId } = asked;
    const asker = parseApprovalId(approvalId)?.runId ?? '';
    const isMeant = runs?.has(asked.runId) !== false || runs.has(asker);
    if (kind !== 'approval' || (tool !== undefined && tool !== toolName) || !isMeant) continue;
    // With --yes nobody sees the calls first, but a call with approvers requires that.
    const isUnseen = yes === true && hasApprovers(asked);
    const mayAct = mayDecide || (act === 'deny' && asked.mayWithdraw === true);
    if (mayAct && !isUnseen) found.push(asked);
    else notYours += 1;
  }
  if (notYours > 0) {
    cli.terminal.note(
      `${String(notYours)} more match that you may not decide${yes === true ? ', or not unseen' : ''}.`,
    );
  }
  await actOnFound(cli, work, {
    act,
    kind: WAITING,
    found,
    toTarget: ({ call, runId, toolCallId, approvalId, inputHash }) => ({
      runId,
      toolCallId,
      path: callPath(call),
      body: { approved: act === 'approve', reason, approvalId, inputHash },
    }),
  });
  return true;
}

function hasApprovers({ approvers, separateApprover }: AskedCall): boolean {
  return approvers !== undefined || separateApprover === true;
}

interface AnswerOptions extends ReasonOption {
  inputHash?: string;
  result?: string;
  error?: string;
}

export function createAnswerCommand(cli: Cli): Command {
  return new Command('answer')
    .description("Give the result of a call that a page should have carried out (a client's tool).")
    .argument(...CALL)
    .option('--result <json>', 'the result; @file reads it from a file', parseText)
    .option('--error <text>', 'why there is no result', parseText)
    .addOption(hashOption())
    .addOption(yesOption())
    .addOption(reasonOption())
    .action(async (call: string, given: AnswerOptions, self: Command) => {
      const { result, error, reason, inputHash } = given;
      if ((result === undefined) === (error === undefined)) {
        throw wrongUsage('Give --result or --error.');
      }
      const body =
        result === undefined
          ? { error }
          : { result: await readJson('--result', result, cli.terminal) };
      const ask = 'Answer this?';
      await answer(cli, self, call, { ask, body: { ...body, reason }, inputHash });
    });
}

export function createExtendCommand(cli: Cli): Command {
  return new Command('extend')
    .description('Extend the deadline of a call.')
    .argument(...CALL)
    .requiredOption('--by <duration>', 'how much longer', parseDuration)
    .addOption(hashOption())
    .addOption(yesOption())
    .addOption(reasonOption())
    .action(async (call: string, given: ExtendOptions, self: Command) => {
      const work = workOf<GlobalOptions & { yes?: boolean }>(cli, self);
      const { api, output } = work;
      const { by, reason, inputHash } = given;
      const shown = await nameShown(cli, work, call, { ask: 'Extend its deadline?', inputHash });
      const body = { byMs: by, reason, ...shown };
      const reply = await api.post<ExtendReply>(callPath(call, '/extend'), body);
      const deadline = new Date(reply.deadline).toISOString();
      await output.text(reply, () => `The deadline is ${deadline}.`);
    });
}

type ExtendOptions = { by: number; inputHash?: string } & ReasonOption;

function hashOption(): Option {
  return new Option(
    '--input-hash <hash>',
    'the inputHash of approval list: for a call with approvers, in place of looking at it now',
  ).argParser(parseText);
}

/**
 * Identifies a call as the person sees it. A call with approvers is shown first, because a list may be out of
 * date.
 *
 * @throws CliFailure
 */
async function nameShown(
  cli: Cli,
  { api, output, options }: Work<GlobalOptions & { yes?: boolean }>,
  call: string,
  { ask, inputHash }: { ask: string; inputHash?: string | undefined },
): Promise<ShownCall> {
  const named = isApprovalId(call) ? call : undefined;
  if (inputHash !== undefined && named !== undefined) return { approvalId: named, inputHash };
  const asked = await findAsked(api, call);
  // The server's reply says how the call ended.
  if (asked === undefined) return { approvalId: named, inputHash };
  const approvalId = named ?? asked.approvalId;
  if (inputHash !== undefined) return { approvalId, inputHash };
  if (!hasApprovers(asked)) return { approvalId };
  const { terminal } = cli;
  if (options.yes === true || !terminal.isInteractive) {
    throw wrongUsage(
      'It has approvers: look at it at a terminal, without -y, or give --input-hash.',
    );
  }
  terminal.note((await output.draw(ASKED, [asked])) + toDetails(asked));
  await confirm(terminal, ask, options);
  return { approvalId, inputHash: asked.inputHash };
}

interface Answer {
  /** Prompt at the terminal. */
  ask: string;
  body: object;
  inputHash: string | undefined;
}

async function answer(
  cli: Cli,
  self: Command,
  call: string,
  { body, ...asked }: Answer,
): Promise<void> {
  const work = workOf<GlobalOptions & { yes?: boolean }>(cli, self);
  const { api, output } = work;
  const shown = await nameShown(cli, work, call, asked);
  const reply = await api.post<AnswerReply>(callPath(call), { ...body, ...shown });
  await output.text(reply, () =>
    reply.result === 'edited'
      ? 'The changed input is stored, and waits for another approver.'
      : reply.resumed
        ? 'The answer is stored, and the run continues.'
        : 'The answer is stored; the run waits for others.',
  );
}
