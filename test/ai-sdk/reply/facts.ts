import {
  type Facts,
  type KnownSession,
  type ParsedRequest,
} from '../../../ai-sdk/reply/classify.js';
import type { PostedMessage } from '../../../protocol/http.js';
import type { Row } from '../../../protocol/rows.js';
import type { OpenCall } from '../../../store/contract/call-record.js';
import type { UserMessage } from '../../../store/contract/runs.js';
import type { SessionRecord } from '../../../store/contract/sessions.js';
import { toUserMessages } from '../../../ai-sdk/index.js';
import { user } from './ask.js';

export const RUN = 's1:1-abc';
export const REST = { status: 'completed', stream: 'ended' } as const;
export const PAUSED = { status: 'waiting_approval', stream: 'paused' } as const;
export const ACTIVE = { status: 'running', stream: 'active' } as const;

export const accepted = (...posted: PostedMessage[]): UserMessage[] => toUserMessages(posted);
export const [hello] = accepted(user('u1', 'hello'));
export const [other] = accepted(user('u1', 'other'));
export const [next] = accepted(user('u2'));
export const [unknown] = accepted(user('u9'));

export const rows = [
  { ...hello?.row },
  { role: 'assistant', messageId: 'msg-1', runId: RUN, step: 1, parts: [] },
] as Row[];

/** The same conversation, whose message is another version of what it was. */
export const edited = rows.map((row) => (row.role === 'user' ? { ...row, edited: true } : row));

export function record(more: Partial<SessionRecord> = {}): SessionRecord {
  const session = { sessionId: 's1', agent: 'lab', owner: 'ann', runId: RUN, runMode: 'new' };
  return { ...session, messageId: 'msg-1', turnStartRow: 0, ...REST, ...more } as SessionRecord;
}

export function call(toolCallId: string, more: Partial<OpenCall> = {}): OpenCall {
  const asked = { toolName: 'charge', kind: 'approval' as const, input: {}, step: 1 };
  return { spec: { toolCallId, runId: RUN, ...asked }, state: 'waiting', ...more };
}

export function session(
  of: Partial<SessionRecord> = {},
  more: Partial<KnownSession> = {},
): KnownSession {
  return { isOwn: true, record: record(of), openCalls: [], rows, ...more };
}

export const approved: PostedMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [
    { type: 'step-start' },
    {
      type: 'dynamic-tool',
      toolCallId: 'c1',
      state: 'approval-responded',
      approval: { id: `${RUN}::c1`, approved: true },
    },
  ],
};
/** Of an earlier turn, in which the page has carried out a call. */
export const stale = {
  id: 'msg-0',
  role: 'assistant' as const,
  parts: [
    { type: 'step-start' },
    { type: 'dynamic-tool', toolCallId: 'c0', state: 'output-available', output: 1 },
  ],
};
export const cut: PostedMessage = {
  id: 'msg-1',
  role: 'assistant',
  parts: [{ type: 'text', text: 'Hel', state: 'streaming' }],
};
export const intent = {
  kind: 'approval-response',
  toolCallId: 'c1',
  approvalId: `${RUN}::c1`,
} as const;
export const answers = {
  intents: [{ ...intent, approved: true }],
  rejected: [],
  hasTrailingUserMessage: false,
};

export type Given = Partial<Omit<Facts, 'request'>> & Partial<ParsedRequest>;

export function facts({ session: of, agents, defaultAgent, ...request }: Given): Facts {
  const { messages = [] } = request;
  const posted = messages.map(({ id }) => user(id));
  return {
    request: { isRead: false, posted, messages, ...request },
    session: of,
    agents: agents ?? { has: (name) => name === 'lab' || name === 'support' },
    defaultAgent,
  };
}

export const refused = (code: string): unknown => ({ kind: 'refuse', error: { code } });
export const list = (...messages: (UserMessage | undefined)[]): UserMessage[] =>
  messages.filter((message) => message !== undefined);
