import { getToolName, isToolUIPart, type ChatStatus, type UIMessage } from 'ai';
import { formatWhen } from './format-when.js';
import type { PageState } from './page-store.js';
import type { ToolNames } from './tool-names.js';
import { isPageCall, toolCardState, waitsForColleague, type ToolPart } from './tool-state.js';

export type PageStatus =
  | 'loading'
  | 'ready'
  | 'starting'
  | 'thinking'
  | 'streaming'
  | 'working'
  | 'stopping'
  | 'waiting'
  | 'colleague'
  | 'provider'
  | 'paused'
  | 'later'
  | 'reconnecting';

/** The page's knowledge of the newest run and of the connection. */
type Known = Pick<PageState, 'reconnecting' | 'stopping'> &
  Partial<Pick<PageState, 'following' | 'pending' | 'runStatus' | 'waitingFor'>>;

/** Statuses of a run that waits for something other than a person, by the server's name. */
const HELD_UP = { provider: 'provider', agent: 'paused', start: 'later' } as const;

/** Returns true while a reply is requested or received. */
export function isBusy(chat: ChatStatus): boolean {
  return chat === 'submitted' || chat === 'streaming';
}

/** Reduces the state of chat and page to one word. */
export function pageStatus(
  chat: ChatStatus,
  page: Known,
  newest: UIMessage | undefined,
): PageStatus {
  if (page.reconnecting) return 'reconnecting';
  if (isBusy(chat) && page.stopping) return 'stopping';
  if (isBusy(chat) || page.following === true) {
    if (page.waitingFor !== undefined) return HELD_UP[page.waitingFor];
    const isEmpty = newest?.role !== 'assistant' || newest.parts.length === 0;
    if (page.runStatus === 'starting' && isEmpty) return 'starting';
    if (runningCalls(newest, page.pending).length > 0) return 'working';
    return chat === 'streaming' ? 'streaming' : 'thinking';
  }
  const turn = whoseTurn(newest, page.pending ?? []);
  return turn === 'ready' && chat === 'ready' && isAnswered(newest, page.pending)
    ? 'thinking'
    : turn;
}

/** Returns the calls in progress; none while the agent writes. */
function runningCalls(
  newest: UIMessage | undefined,
  pending: PageState['pending'] = [],
): ToolPart[] {
  if (newest?.role !== 'assistant') return [];
  const last = newest.parts.at(-1);
  if (last !== undefined && 'state' in last && last.state === 'streaming') return [];
  return newest.parts.filter(
    (part): part is ToolPart =>
      isToolUIPart(part) &&
      part.state !== 'input-streaming' &&
      toolCardState(part) === 'running' &&
      !isPageCall(part, pending) &&
      !waitsForColleague(part, pending),
  );
}

/** Returns true if the person has answered a question that the server still lists: the answer is being sent. */
function isAnswered(newest: UIMessage | undefined, pending: PageState['pending'] = []): boolean {
  const open = new Set(pending.map(({ toolCallId }) => toolCallId));
  return (newest?.parts ?? []).some(
    (part) => isToolUIPart(part) && !isOpen(part) && open.has(part.toolCallId),
  );
}

const isOpen = ({ state }: ToolPart): boolean =>
  state === 'input-streaming' || state === 'input-available' || state === 'approval-requested';

/** Returns whose turn it is while nothing runs; this person comes before others. */
function whoseTurn(newest: UIMessage | undefined, pending: PageState['pending']): PageStatus {
  const calls = (newest?.parts ?? []).filter(isToolUIPart);
  if (calls.some((part) => part.state === 'approval-requested' || isPageCall(part, pending)))
    return 'waiting';
  return calls.some((part) => waitsForColleague(part, pending)) ? 'colleague' : 'ready';
}

/** The line has room for this many titles. */
const NAMED = 2;

/** Returns the titles of running calls, or the time when the run begins. Pure. */
export function describeStatus(
  status: PageStatus,
  { pending, startAt }: Pick<PageState, 'pending' | 'startAt'>,
  newest: UIMessage | undefined,
  { titleOf, agentOf }: ToolNames,
): string | undefined {
  if (status === 'later') return startAt === undefined ? undefined : formatWhen(startAt);
  if (status !== 'working') return undefined;
  const titles = new Set(
    runningCalls(newest, pending).map((part) => {
      const name = getToolName(part);
      return agentOf(name) ?? part.title ?? titleOf(name);
    }),
  );
  const named = [...titles].slice(0, NAMED).join(', ');
  const others = titles.size - NAMED;
  return others > 0 ? `${named} and ${String(others)} more…` : `${named}…`;
}
