import type { RunStatus } from '../../../protocol/run.js';

export const STATUS_WORDS: Record<RunStatus, string> = {
  starting: 'Starting',
  running: 'Running',
  waiting_approval: 'Waits for approval',
  waiting_tool: 'Waits for an answer',
  waiting_children: 'Waits for a sub-agent',
  completed: 'Completed',
  failed: 'Failed',
  interrupted: 'Stopped',
  aborted: 'Aborted',
};
