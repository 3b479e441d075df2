import type { Command } from 'commander';
import { parseApprovalId } from '../../../protocol/ids.js';
import type { AnswerReply, ExtendReply } from '../../../protocol/replies.js';
import type { ShownCall } from '../../../protocol/shown-call.js';
import { CliFailure, wrongUsage } from '../../failure.js';
import { parseDuration, parseText, readJson } from '../../parse-values.js';
import { confirm } from '../../terminal.js';
import { actOnFound, addManyOptions, type ManyOptions } from '../many.js';
import {
  LIMIT,
  noteMore,
  REASON,
  YES,
  type ConsentOptions,
  type ListOptions,
  type ReasonOption,
  type Work,
  type ApiCommand,
} from '../api-command.js';
import { addRunFilter, findSuited, isEmpty, toRunQuery, type RunFilter } from '../run/run-list.js';
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
const HASH = [
  '--input-hash <hash>',
  'the inputHash of approval list: for a call with approvers, in place of looking at it now',
  parseText,
] as const;

interface CallOptions extends ReasonOption, ConsentOptions {
  inputHash?: string;
}

interface DecideOptions extends CallOptions, RunFilter, ManyOptions {
  input?: string;
  tool?: string;
}

/** `approval`: questions to people. */
export function addApprovalCommands(program: ApiCommand): void {
  const { cli } = program;
  const noun = program.command('approval').description('See and answer what waits for people.');
  noun
    .command('list')
    .description('List what waits for people, longest first.')
    .option('--older-than <duration>', 'only what has waited so long', parseDuration)
    .option(...LIMIT)
    .act(async (work: Work<ListOptions & { olderThan?: number }>) => {
      await work.output.list(WAITING, readWaiting(work.api, work.options, noteMore(work)));
    });
  noun
    .command('describe')
    .description('Show one call that waits, with all of its input.')
    .argument(...CALL)
    .act(async ({ api, output }, call: string) => {
      const found = await findAsked(api, call);
      if (found === undefined) throw new CliFailure(`${call} does not wait for anyone.`);
      await output.one(ASKED, found, toDetails(found));
    });
  const approve = noun
    .command('approve')
    .summary('approve calls')
    .description('Approve a call; its tool then runs. Name one, or select many with a filter.')
    .argument(...CALL_OR_FILTER)
    .option(
      '--input <json>',
      'run it with this input instead; @file reads it from a file',
      parseText,
    )
    .option(...HASH)
    .option(...REASON);
  addFilter(approve).act(async (work: Work<DecideOptions>, call: string | undefined) => {
    if (isOfFilter(work.options, call)) return decideMany(work, 'approve');
    const { reason, input: json } = work.options;
    const input = json === undefined ? undefined : await readJson('--input', json, cli.terminal);
    await answer(work, call, 'Approve this?', { approved: true, reason, input });
  });
  const deny = noun
    .command('deny')
    .summary('deny calls')
    .description('Deny a call; the agent gets the reason. Name one, or select many with a filter.')
    .argument(...CALL_OR_FILTER)
    .option(...HASH)
    .requiredOption(...REASON);
  addFilter(deny).act(async (work: Work<DecideOptions>, call: string | undefined) => {
    if (isOfFilter(work.options, call)) return decideMany(work, 'deny');
    const { reason } = work.options;
    await answer(work, call, 'Deny this?', { approved: false, reason });
  });
  noun
    .command('answer')
    .description("Give the result of a call that a page should have carried out (a client's tool).")
    .argument(...CALL)
    .option('--result <json>', 'the result; @file reads it from a file', parseText)
    .option('--error <text>', 'why there is no result', parseText)
    .option(...HASH)
    .option(...YES)
    .option(...REASON)
    .act(async (work: Work<CallOptions & { result?: string; error?: string }>, call: string) => {
      const { result, error, reason } = work.options;
      if ((result === undefined) === (error === undefined)) {
        throw wrongUsage('Give --result or --error.');
      }
      const given =
        result === undefined
          ? { error }
          : { result: await readJson('--result', result, cli.terminal) };
      await answer(work, call, 'Answer this?', { ...given, reason });
    });
  noun
    .command('extend')
    .description('Extend the deadline of a call.')
    .argument(...CALL)
    .requiredOption('--by <duration>', 'how much longer', parseDuration)
    .option(...HASH)
    .option(...YES)
    .option(...REASON)
    .act(async (work: Work<CallOptions & { by: number }>, call: string) => {
      const { by, reason } = work.options;
      const shown = await nameShown(work, call, 'Extend its deadline?');
      const body = { byMs: by, reason, ...shown };
      const reply = await work.api.post<ExtendReply>(callPath(call, '/extend'), body);
      const deadline = new Date(reply.deadline).toISOString();
      await work.output.text(reply, () => `The deadline is ${deadline}.`);
    });
}

function addFilter<C extends Command>(command: C): C {
  return addManyOptions(
    addRunFilter(command).option('--tool <name>', 'only calls of this tool', parseText),
  );
}

/** Returns whether calls are selected by a filter instead of one being named. @throws CliFailure */
function isOfFilter(options: DecideOptions, call: string | undefined): call is undefined {
  const hasFilter = !isEmpty(options) || options.tool !== undefined;
  if ((call !== undefined) === hasFilter) {
    throw wrongUsage('Name a call, or select calls with -q, --status, --agent, --since or --tool.');
  }
  return hasFilter;
}

async function decideMany(work: Work<DecideOptions>, act: 'approve' | 'deny'): Promise<void> {
  const { cli, options, api } = work;
  const { tool, input, reason, inputHash, yes = false } = options;
  if (input !== undefined) throw wrongUsage('--input is for one call.');
  if (inputHash !== undefined) throw wrongUsage('--input-hash is for one call.');
  // Undefined means all runs.
  const runs = isEmpty(options)
    ? undefined
    : (await findSuited(api, toRunQuery(options, cli.now()), 'stop')).map(({ runId }) => runId);
  const found = [];
  let notYours = 0;
  for await (const asked of readWaiting(api)) {
    const { kind, toolName, mayDecide, approvalId } = asked;
    const asker = parseApprovalId(approvalId)?.runId ?? '';
    const isMeant = runs === undefined || runs.includes(asked.runId) || runs.includes(asker);
    if (kind !== 'approval' || (tool !== undefined && tool !== toolName) || !isMeant) continue;
    // With --yes nobody sees the calls first, but a call with approvers requires that.
    const isUnseen = yes && hasApprovers(asked);
    const mayAct = mayDecide || (act === 'deny' && asked.mayWithdraw === true);
    if (mayAct && !isUnseen) found.push(asked);
    else notYours += 1;
  }
  if (notYours > 0) {
    cli.terminal.note(
      `${String(notYours)} more match that you may not decide${yes ? ', or not unseen' : ''}.`,
    );
  }
  await actOnFound(work, {
    act,
    kind: WAITING,
    found,
    toTarget: ({ call, runId, toolCallId, approvalId, inputHash: shownHash }) => ({
      runId,
      toolCallId,
      path: callPath(call),
      body: { approved: act === 'approve', reason, approvalId, inputHash: shownHash },
    }),
  });
}

function hasApprovers({ approvers, separateApprover }: AskedCall): boolean {
  return approvers !== undefined || separateApprover === true;
}

/**
 * Identifies a call as the person sees it. A call with approvers is shown first, because a list may be out of
 * date.
 *
 * @throws CliFailure
 */
async function nameShown(
  { cli, api, output, options }: Work<CallOptions>,
  call: string,
  question: string,
): Promise<ShownCall> {
  const { inputHash } = options;
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
  terminal.note(output.draw(ASKED, [asked]) + toDetails(asked));
  await confirm(terminal, question, options);
  return { approvalId, inputHash: asked.inputHash };
}

async function answer(
  work: Work<CallOptions>,
  call: string,
  question: string,
  body: object,
): Promise<void> {
  const shown = await nameShown(work, call, question);
  const reply = await work.api.post<AnswerReply>(callPath(call), { ...body, ...shown });
  await work.output.text(reply, () =>
    reply.result === 'edited'
      ? 'The changed input is stored, and waits for another approver.'
      : reply.resumed
        ? 'The answer is stored, and the run continues.'
        : 'The answer is stored; the run waits for others.',
  );
}
