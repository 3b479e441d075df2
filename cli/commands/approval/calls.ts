import type {
  OperatorQuestion,
  OperatorSession,
  OperatorWaiting,
} from '../../../protocol/operator.js';
import { parseApprovalId, rootOf, sessionOfRun, toShownSessionId } from '../../../protocol/ids.js';
import type { ApiClient } from '../../api/client.js';
import { readPages } from '../../api/pages.js';
import { wrongUsage } from '../../failure.js';
import type { Kind } from '../../output/output.js';
import { shortText, shownJson } from '../../output/shown-text.js';

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

const WHAT: Kind<AskedCall>['columns'] = {
  CALL: ({ call }) => call,
  KIND: ({ kind }) => kind,
  TOOL: ({ toolName }) => toolName,
};
const WHOSE: Kind<AskedCall>['columns'] = {
  OWNER: ({ owner }) => owner,
  DEADLINE: ({ deadline }, shown) => shown.time(deadline),
  YOURS: ({ mayDecide }) => (mayDecide ? 'yes' : 'no'),
};
const styles: Kind<AskedCall>['styles'] = { TOOL: () => 'yellow' };

export const WAITING: Kind<WaitingCall> = {
  fields: [...FIELDS, 'since'],
  columns: {
    ...WHAT,
    INPUT: ({ input }) => shortText(shownJson(input), INPUT_CHARS),
    HIDDEN: ({ hiddenMessages }) => hiddenMessages?.length,
    SINCE: ({ since }, shown) => shown.time(since),
    ...WHOSE,
  },
  styles,
  none: 'Nothing waits for people.',
};

/** Columns of a single call, whose input is shown in full. */
export const ASKED: Kind<AskedCall> = {
  fields: FIELDS,
  columns: {
    ...WHAT,
    AGENT: ({ agent }) => agent,
    RUN: ({ runId }) => runId,
    ...WHOSE,
    APPROVERS: ({ approvers }) => approvers?.join(', '),
    'FOUR EYES': ({ separateApprover }) => (separateApprover === true ? 'yes' : 'no'),
  },
  styles,
  none: 'No call.',
};

/** Reads the waiting calls, longest wait first. */
export async function* readWaiting(
  api: ApiClient,
  { olderThan, limit }: { olderThan?: number | undefined; limit?: number } = {},
  onMore?: () => void,
): AsyncGenerator<WaitingCall, void> {
  const pages = readPages(
    async (page) => {
      const query = { ...page, olderThan };
      const reply = await api.get<OperatorWaiting>('/api/operator/waiting', { query });
      return { items: reply.sessions, cursor: reply.cursor };
    },
    limit,
    onMore,
  );
  for await (const { since, ...session } of pages) {
    for (const question of session.pending) yield { ...toAsked(session, question), since };
  }
}

type Asking = Pick<
  OperatorWaiting['sessions'][number],
  'sessionId' | 'run' | 'agent' | 'owner' | 'hiddenMessages'
>;

function toAsked(session: Asking, question: OperatorQuestion): AskedCall {
  const { sessionId, run, agent, owner, hiddenMessages } = session;
  const call = `${sessionId}::${question.toolCallId}`;
  return { call, sessionId, runId: run.runId, agent, owner, hiddenMessages, ...question };
}

/** Parses a call's name, as printed by `approval list`, or its approval id. @throws CliFailure */
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
  return question && { ...toAsked({ ...session, sessionId }, question), call };
}

/** Returns everything that a person must see to decide the call. */
export function toDetails({ input, edited, hiddenMessages = [] }: AskedCall): string {
  const before =
    edited === undefined
      ? ''
      : `\n\n${edited.by ?? 'A person'} has changed it. The agent asked for\n${shownJson(edited.from, 2)}`;
  const { length } = hiddenMessages;
  const messages = length === 1 ? '1 message' : `${String(length)} messages`;
  const unseen =
    length === 0
      ? ''
      : `\n\nThe model saw ${messages} that the conversation does not show\n${shownJson(hiddenMessages, 2)}`;
  return `\nInput\n${shownJson(input, 2)}${before}${unseen}`;
}

export function callPath(text: string, act = ''): string {
  const { sessionId, toolCallId } = parseCall(text);
  return `/api/operator/waiting/${encodeURIComponent(sessionId)}/${encodeURIComponent(toolCallId)}${act}`;
}
