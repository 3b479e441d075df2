import type { OperatorRun, OperatorRunCount } from '../../../protocol/operator.js';
import type { RunStatus } from '../../../protocol/run.js';
import type { Column, Kind } from '../../output/output.js';

const STYLES: Partial<Record<RunStatus, 'green' | 'red' | 'yellow' | 'dim'>> = {
  completed: 'green',
  failed: 'red',
  waiting_approval: 'yellow',
  waiting_tool: 'yellow',
  interrupted: 'dim',
  aborted: 'dim',
};

const columns: Column<OperatorRun>[] = [
  { title: 'RUN', show: (run) => run.runId },
  { title: 'STATUS', show: (run) => run.status, style: (run) => STYLES[run.status] },
  { title: 'AGENT', show: (run) => run.agent },
  { title: 'TURN', show: (run) => run.turn },
  { title: 'STARTED', show: (run, shown) => shown.time(run.startedAt) },
  { title: 'ENDED', show: (run, shown) => shown.time(run.endedAt) },
];

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
  columns,
  none: 'No runs.',
};

/** How many runs have a value. */
export type RunGroup = OperatorRunCount['groups'][number];

export const RUN_GROUPS: Kind<RunGroup> = {
  fields: ['value', 'count'],
  columns: [
    { title: 'VALUE', show: (group) => group.value },
    { title: 'RUNS', show: (group) => group.count },
  ],
  none: 'No runs.',
};
