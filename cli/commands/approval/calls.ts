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

/** A waiting call and its conversation. */
export interface AskedCall extends OperatorQuestion {
  /** The call's name on the command line. */
  call: string;
  sessionId: string;
  runId: string;
  agent: string;
  owner: string;
  /** Messages that the model saw and the conversation hides. */
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

/** Columns of a list of calls. */
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

/** Columns of a single call, whose input is shown in full. */
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

/** Reads the waiting calls, longest wait first. */
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
 * Parses a call's name, as printed by `approval list`, or its approval id.
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

/** Returns true if the name includes the run; session ids contain no colon. */
export function isApprovalId(call: string): boolean {
  return parseApprovalId(call)?.runId.includes(':') === true;
}

/** Reads the call's current state; undefined if it does not wait. */
export async function findAsked(api: ApiClient, call: string): Promise<AskedCall | undefined> {
  const { sessionId, toolCallId } = parseCall(call);
  const path = `/api/operator/sessions/${encodeURIComponent(sessionId)}`;
  const session = await api.get<OperatorSession>(path, { query: { limit: 1 } });
  const question = session.pending.find((pending) => pending.toolCallId === toolCallId);
  if (question === undefined) return undefined;
  const { agent, owner, run, hiddenMessages } = session;
  return { call, sessionId, runId: run.runId, agent, owner, hiddenMessages, ...question };
}

/** Returns everything that a person must see to decide the call. */
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
