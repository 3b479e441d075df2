import { toShownSessionId } from '../../protocol/ids.js';
import type { Notice } from '../../protocol/notices.js';

/** A page of the product. */
export interface Place {
  /** Label of a button that leads there. */
  title: string;
  /** Path below the public address. */
  path: string;
}

type Subject = Pick<Notice, 'type' | 'sessionId' | 'runId' | 'toolCallId'>;

/**
 * Returns the page on which the reader of a notice can act. It is in the console, since colleagues cannot open
 * another user's conversation; the owner may open it too. Pure.
 */
export function toPlace({ type, sessionId, runId, toolCallId }: Subject): Place {
  if (type === 'spend.exceeded') return { title: 'Usage', path: '/console/usage' };
  if (sessionId !== undefined && toolCallId !== undefined) {
    const shown = encodeURIComponent(toShownSessionId(sessionId));
    return { title: 'Question', path: `/console/waiting/${shown}` };
  }
  if (runId !== undefined) {
    return { title: 'Run', path: `/console/runs/${encodeURIComponent(runId)}` };
  }
  if (/^(approval|tool)\./.test(type)) return { title: 'Questions', path: '/console/waiting' };
  if (type.startsWith('run.')) return { title: 'Runs', path: '/console/runs' };
  return { title: 'Console', path: '/console' };
}
