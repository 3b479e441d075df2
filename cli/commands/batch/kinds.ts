import type { OperatorBatch, OperatorBatchPlan } from '../../../protocol/batch.js';
import type { Kind } from '../../output/output.js';
import { shownText } from '../../output/shown-text.js';

export const BATCHES: Kind<OperatorBatch> = {
  fields: [
    'id',
    'act',
    'status',
    'total',
    'done',
    'skipped',
    'failed',
    'problems',
    'by',
    'startedAt',
    'endedAt',
  ],
  columns: [
    { title: 'BATCH', show: ({ id }) => id },
    { title: 'ACT', show: ({ act }) => act },
    {
      title: 'STATUS',
      show: ({ status }) => status,
      style: ({ status }) => (status === 'failed' ? 'red' : undefined),
    },
    { title: 'TOTAL', show: ({ total }) => total },
    { title: 'DONE', show: ({ done }) => done },
    { title: 'SKIPPED', show: ({ skipped }) => skipped },
    {
      title: 'FAILED',
      show: ({ failed }) => failed,
      style: ({ failed }) => (failed > 0 ? 'red' : undefined),
    },
    { title: 'BY', show: ({ by }) => by },
    { title: 'STARTED', show: ({ startedAt }, shown) => shown.time(startedAt) },
  ],
  none: 'No batches.',
};

/** A run or call on which a batch acts. */
export type Target = OperatorBatchPlan['targets'][number];

export const TARGETS: Kind<Target> = {
  fields: [
    'runId',
    'toolCallId',
    'toolName',
    'input',
    'inputHash',
    'sessionId',
    'agent',
    'owner',
    'status',
  ],
  columns: [
    { title: 'RUN', show: ({ runId }) => runId },
    { title: 'STATUS', show: ({ status }) => status },
    { title: 'AGENT', show: ({ agent }) => agent },
    { title: 'OWNER', show: ({ owner }) => owner },
    { title: 'CALL', show: ({ toolCallId }) => toolCallId },
    { title: 'TOOL', show: ({ toolName }) => toolName },
    { title: 'INPUT', show: ({ input }) => input },
  ],
  none: 'Nothing matches.',
};

/** The first items that were refused, one a line; undefined if there are none. */
export function toProblemLines({ problems, failed }: OperatorBatch): string | undefined {
  if (failed === 0) return undefined;
  const lines = problems.map(({ target, code }) => shownText(`${target}: ${code}`));
  const more = failed - problems.length;
  return [...lines, ...(more > 0 ? [`and ${String(more)} more`] : [])].join('\n');
}
