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

/** What the page knows of the newest run, and of the connection. */
type Known = Pick<PageState, 'reconnecting' | 'stopping'> &
  Partial<Pick<PageState, 'following' | 'pending' | 'runStatus' | 'waitingFor'>>;

/** What a run waits for that is no person, by the server's word for it. */
const HELD_UP = { provider: 'provider', agent: 'paused', start: 'later' } as const;

/** The page's state in one word, from what the chat and the page know. */
export function pageStatus(
  chat: ChatStatus,
  page: Known,
  newest: UIMessage | undefined,
): PageStatus {
  if (page.reconnecting) return 'reconnecting';
  const isBusy = chat === 'submitted' || chat === 'streaming';
  if (isBusy && page.stopping) return 'stopping';
  if (isBusy || page.following === true) {
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

/** The calls that are carried out now; none while the agent writes. */
export function runningCalls(
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

/** Whether an answer was given here that the server still asks for: it is sent in a moment. */
function isAnswered(newest: UIMessage | undefined, pending: PageState['pending'] = []): boolean {
  const open = new Set(pending.map(({ toolCallId }) => toolCallId));
  return (newest?.parts ?? []).some(
    (part) => isToolUIPart(part) && !isOpen(part) && open.has(part.toolCallId),
  );
}

const isOpen = ({ state }: ToolPart): boolean =>
  state === 'input-streaming' || state === 'input-available' || state === 'approval-requested';

/** Who has to act while nothing runs: this person comes before others. */
function whoseTurn(newest: UIMessage | undefined, pending: PageState['pending']): PageStatus {
  const calls = (newest?.parts ?? []).filter(isToolUIPart);
  if (calls.some((part) => part.state === 'approval-requested' || isPageCall(part, pending)))
    return 'waiting';
  return calls.some((part) => waitsForColleague(part, pending)) ? 'colleague' : 'ready';
}

/** Titles that the line has room for. */
const NAMED = 2;

/** What the status line adds to its words: the titles of what runs, or when the run begins. Pure. */
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
