import { getToolName, type UIMessage } from 'ai';
import { formatWhen } from './format-when.js';
import { runningCalls, type PageStatus } from './page-status.js';
import type { PageState } from './page-store.js';
import type { ToolNames } from './tool-names.js';

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
