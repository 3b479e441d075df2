import type {
  OperatorQuestion,
  OperatorSession,
  OperatorWaiting,
} from '../../../protocol/operator.js';
import { parseApprovalId, rootOf, sessionOfRun, toShownSessionId } from '../../../protocol/ids.js';
import type { ApiClient } from '../../api/client.js';
import { readPages } from '../../api/pages.js';
import { wrongUsage } from '../../failure.js';
import type { Column, Kind } from '../../output/output.js';
import { shortText, shownJson } from '../../output/shown-text.js';

/** A call that waits for a person, with the conversation that it belongs to. */
export interface AskedCall extends OperatorQuestion {
  /** Names the call on the command line. */
  call: string;
  sessionId: string;
  runId: string;
  agent: string;
  owner: string;
  /** What the model saw and the conversation does not show. */
  hiddenMessages?: unknown[] | undefined;
}

interface WaitingCall extends AskedCall {
  since: number;
}

const INPUT_CHARS = 60;

const FIELDS = [
  'call',
  'sessionId',
  'runId',
  'toolCallId',
  'toolName',
  'kind',
  'input',
  'approvalId',
  'inputHash',
  'edited',
  'hiddenMessages',
  'agent',
  'owner',
  'deadline',
  'mayDecide',
  'approvers',
  'separateApprover',
  'missingRoles',
  'mayWithdraw',
] as const;

const WHAT: Column<AskedCall>[] = [
  { title: 'CALL', show: ({ call }) => call },
  { title: 'KIND', show: ({ kind }) => kind },
  { title: 'TOOL', show: ({ toolName }) => toolName, style: () => 'yellow' },
];

const WHOSE: Column<AskedCall>[] = [
  { title: 'OWNER', show: ({ owner }) => owner },
  { title: 'DEADLINE', show: ({ deadline }, shown) => shown.time(deadline) },
  { title: 'YOURS', show: ({ mayDecide }) => (mayDecide ? 'yes' : 'no') },
];

/** For a list of calls. */
export const WAITING: Kind<WaitingCall> = {
  fields: [...FIELDS, 'since'],
  columns: [
    ...WHAT,
    { title: 'INPUT', show: ({ input }) => shortText(shownJson(input), INPUT_CHARS) },
    { title: 'HIDDEN', show: ({ hiddenMessages }) => hiddenMessages?.length },
    { title: 'SINCE', show: ({ since }, shown) => shown.time(since) },
    ...WHOSE,
  ],
  none: 'Nothing waits for people.',
};

/** For one call, whose input is shown as a whole. */
export const ASKED: Kind<AskedCall> = {
  fields: FIELDS,
  columns: [
    ...WHAT,
    { title: 'AGENT', show: ({ agent }) => agent },
    { title: 'RUN', show: ({ runId }) => runId },
    ...WHOSE,
    { title: 'APPROVERS', show: ({ approvers }) => approvers?.join(', ') },
    { title: 'FOUR EYES', show: (call) => (call.separateApprover === true ? 'yes' : 'no') },
  ],
  none: 'No call.',
};

/** Calls that wait, longest first. */
export async function* readWaiting(
  api: ApiClient,
  { olderThan, limit }: { olderThan?: number | undefined; limit?: number } = {},
  onMore?: () => void,
): AsyncGenerator<WaitingCall, void> {
  const sessions = readPages(
    async (page) => {
      const query = { ...page, olderThan };
      const { sessions, cursor } = await api.get<OperatorWaiting>('/api/operator/waiting', {
        query,
      });
      return { items: sessions, cursor };
    },
    limit,
    onMore,
  );
  for await (const { pending, run, ...session } of sessions) {
    const { sessionId, agent, owner, since, hiddenMessages } = session;
    for (const question of pending) {
      const call = `${sessionId}::${question.toolCallId}`;
      yield { call, sessionId, runId: run.runId, agent, owner, since, hiddenMessages, ...question };
    }
  }
}

/**
 * The call that a person names: as `approval list` prints it, or by its approval id.
 *
 * @throws CliFailure
 */
export function parseCall(text: string): { sessionId: string; toolCallId: string } {
  const parts = parseApprovalId(text);
  if (parts === undefined) {
    throw wrongUsage(
      `"${text}" names no call: it must be <session>::<call>, as approval list prints.`,
    );
  }
  const { runId, toolCallId } = parts;
  return { sessionId: rootOf(toShownSessionId(sessionOfRun(runId))), toolCallId };
}

/** True for a name with the run: a session's id has no colon. */
export function isApprovalId(call: string): boolean {
  return parseApprovalId(call)?.runId.includes(':') === true;
}

/** A call as the server has it now; undefined if it does not wait. */
export async function findAsked(api: ApiClient, call: string): Promise<AskedCall | undefined> {
  const { sessionId, toolCallId } = parseCall(call);
  const path = `/api/operator/sessions/${encodeURIComponent(sessionId)}`;
  const session = await api.get<OperatorSession>(path, { query: { limit: 1 } });
  const question = session.pending.find((pending) => pending.toolCallId === toolCallId);
  if (question === undefined) return undefined;
  const { agent, owner, run, hiddenMessages } = session;
  return { call, sessionId, runId: run.runId, agent, owner, hiddenMessages, ...question };
}

/** All that a person has to know of a call to decide about it. */
export function toDetails({ input, edited, hiddenMessages = [] }: AskedCall): string {
  const before =
    edited === undefined
      ? ''
      : `\n\n${edited.by ?? 'A person'} has changed it. The agent asked for\n${shownJson(edited.from, 2)}`;
  const unseen =
    hiddenMessages.length === 0
      ? ''
      : `\n\nThe model saw ${countOf(hiddenMessages)} that the conversation does not show\n${shownJson(hiddenMessages, 2)}`;
  return `\nInput\n${shownJson(input, 2)}${before}${unseen}`;
}

export function callPath(text: string, act = ''): string {
  const { sessionId, toolCallId } = parseCall(text);
  return `/api/operator/waiting/${encodeURIComponent(sessionId)}/${encodeURIComponent(toolCallId)}${act}`;
}

function countOf({ length }: readonly unknown[]): string {
  return length === 1 ? '1 message' : `${String(length)} messages`;
}
