import type { RunMode } from '../protocol/run.js';
import type { SessionRecord } from '../stores/contract/sessions.js';

/** Whether a session's newest turn can be continued as it stands, and what else can be done with it. */
export interface Resumability {
  canResume: boolean;
  /** Why not; `waiting` is for an answer. */
  reason?: 'not_found' | 'running' | 'waiting' | 'completed' | 'failed' | 'aborted';
  /** Modes in which a run could begin now. */
  modes: Extract<
    RunMode,
    'continue' | 'with_confirmation' | 'with_message' | 'from_checkpoint' | 'retry'
  >[];
}

/** What the record of a session allows. The store decides again when it is asked to. Pure. */
export function decideResume(
  record: Pick<SessionRecord, 'status' | 'error' | 'checkpointId'> | undefined,
): Resumability {
  if (record === undefined) return { canResume: false, reason: 'not_found', modes: [] };
  const { status, error, checkpointId } = record;
  const again: Resumability['modes'] = ['with_message', 'retry'];
  if (checkpointId !== undefined) again.push('from_checkpoint');
  switch (status) {
    case 'starting':
    case 'running':
    case 'waiting_children':
      return { canResume: false, reason: 'running', modes: [] };
    case 'waiting_approval':
    case 'waiting_tool':
      // A new message instead of the answer is abandonment.
      return { canResume: false, reason: 'waiting', modes: ['with_message'] };
    case 'failed':
      if (error?.retryable !== true) return { canResume: false, reason: status, modes: again };
      return { canResume: true, modes: ['continue', 'with_confirmation', ...again] };
    case 'interrupted':
      return { canResume: true, modes: ['continue', 'with_confirmation', ...again] };
    case 'completed':
    case 'aborted':
      return { canResume: false, reason: status, modes: again };
  }
}
