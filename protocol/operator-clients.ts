import type { AuditReply, AuditVerdictReply } from './audit.js';
import { isTerminal, RUN_STATUSES, type RunStatus } from './run.js';

/** Run statuses in which an act on many runs makes sense. */
export const SUITED: Record<'stop' | 'retry' | 'resume', readonly RunStatus[]> = {
  stop: RUN_STATUSES.filter((status) => !isTerminal(status)),
  retry: RUN_STATUSES.filter((status) => isTerminal(status) && status !== 'completed'),
  resume: ['interrupted', 'failed'],
};

/** Reads all matching runs with one of these statuses. One query per status skips the many completed runs. */
export async function findRuns<Run extends { runId: string; status: RunStatus }>(
  read: (query: Record<string, string | undefined>) => Promise<{ runs: Run[]; cursor?: string }>,
  { status: wanted, ...filter }: Readonly<Record<string, string | undefined>>,
  statuses: readonly RunStatus[],
): Promise<Run[]> {
  const found = new Map<string, Run>();
  for (const status of statuses.filter((each) => (wanted ?? each) === each)) {
    let cursor: string | undefined;
    do {
      const page = await read({ ...filter, status, limit: '100', cursor });
      // A run may have another status by now than the list knows.
      for (const run of page.runs) if (statuses.includes(run.status)) found.set(run.runId, run);
      ({ cursor } = page);
    } while (cursor !== undefined);
  }
  return [...found.values()];
}

const AT_ONCE = 4;

/** Refusal codes that mean that others were faster, or that the conversation was erased. */
const NOTHING_TO_DO: ReadonlySet<string | undefined> = new Set([
  'not_found',
  'not_pending',
  'already_completed',
  'stale_run',
  'expired',
  'late_answer_after_timeout',
  'agent_already_running',
  'nothing_to_do',
  'message_not_found',
]);

export function isNothingToDo(code: string | undefined): boolean {
  return NOTHING_TO_DO.has(code);
}

/**
 * Acts on items in order, a few at a time; returns the outcomes in that order. Once `isOver`
 * returns true, it begins no further act and waits for those in progress. A refusal must not
 * reject.
 */
export async function* actOnEach<Item, Outcome>(
  items: readonly Item[],
  act: (item: Item) => Promise<Outcome>,
  isOver: () => boolean,
): AsyncGenerator<Outcome, void> {
  const rest = items.values();
  const underWay: Promise<Outcome>[] = [];
  for (;;) {
    while (underWay.length < AT_ONCE && !isOver()) {
      const { done, value } = rest.next();
      if (done === true) break;
      underWay.push(act(value));
    }
    const first = underWay.shift();
    if (first === undefined) return;
    yield await first;
  }
}

export function describeFault({ n, reason }: NonNullable<AuditVerdictReply['fault']>): string {
  if (reason !== 'unexpected') return `Entry ${String(n)} is not as it was written: ${reason}.`;
  const newest = `the newest entry that was noted (number ${String(n - 1)})`;
  return `Something stands behind ${newest}, or that note is gone. docs/audit.md says how to repair it.`;
}

export function describeRequest(request: NonNullable<AuditReply['requests']>[number]): string {
  const { action, subject, by, until } = request;
  const what =
    action === 'forget'
      ? `to erase ${subject} (user delete ${subject})`
      : `to open the name of ${subject} (audit open ${subject})`;
  return `${by} asks ${what}. Another operator may do the same until ${new Date(until).toISOString()}.`;
}
