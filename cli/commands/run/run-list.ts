import { Option, type Command } from 'commander';
import type { OperatorRun, OperatorRuns } from '../../../protocol/operator.js';
import { findRuns, SUITED } from '../../../protocol/operator-clients.js';
import { RUN_STATUSES, type RunStatus } from '../../../protocol/run.js';
import type { ApiClient } from '../../api/client.js';
import type { Kind } from '../../output/output.js';
import { parseSince, parseText } from '../../parse-values.js';

export interface RunFilter {
  query?: string;
  status?: RunStatus;
  agent?: string;
  /** Returns an ISO time relative to `now`. */
  since?: (now: number) => string;
}

/** The filter as query parameters of the API. */
type RunQuery = Record<string, string | undefined>;

export function addRunFilter<C extends Command>(command: C): C {
  return command
    .option('-q, --query <query>', "a list filter of Temporal: AgentStatus = 'failed'", parseText)
    .addOption(new Option('--status <status>', 'only runs in it').choices(RUN_STATUSES))
    .option('--agent <name>', 'only runs of this agent', parseText)
    .option('--since <time>', 'started since: 24h, or a date', parseSince);
}

export function isEmpty({ query, status, agent, since }: RunFilter): boolean {
  return [query, status, agent, since].every((value) => value === undefined);
}

export function toRunQuery({ query, status, agent, since }: RunFilter, now: number): RunQuery {
  return { query, status, agent, since: since?.(now) };
}

export function readRuns(
  api: ApiClient,
  query: Record<string, string | number | undefined>,
): Promise<OperatorRuns> {
  return api.get('/api/operator/runs', { query });
}

/** Reads all matching runs in which the act makes sense. */
export function findSuited(
  api: ApiClient,
  query: RunQuery,
  act: keyof typeof SUITED,
): Promise<OperatorRun[]> {
  return findRuns((page) => readRuns(api, page), query, SUITED[act]);
}

export function runPath(runId: string, act = ''): string {
  return `/api/operator/runs/${encodeURIComponent(runId)}${act}`;
}

const STYLES: Partial<Record<RunStatus, 'green' | 'red' | 'yellow' | 'dim'>> = {
  completed: 'green',
  failed: 'red',
  waiting_approval: 'yellow',
  waiting_tool: 'yellow',
  interrupted: 'dim',
  aborted: 'dim',
};

export const RUNS: Kind<OperatorRun> = {
  fields: [
    'runId',
    'sessionId',
    'agent',
    'status',
    'turn',
    'model',
    'subAgent',
    'startedAt',
    'endedAt',
  ],
  columns: {
    RUN: (run) => run.runId,
    STATUS: (run) => run.status,
    AGENT: (run) => run.agent,
    TURN: (run) => run.turn,
    STARTED: (run, shown) => shown.time(run.startedAt),
    ENDED: (run, shown) => shown.time(run.endedAt),
  },
  styles: { STATUS: (run) => STYLES[run.status] },
  none: 'No runs.',
};
