import { toShownSessionId } from '../../protocol/ids.js';
import type { Notice } from '../../protocol/notices.js';

/** A page of the product. */
export interface Place {
  /** What a button calls it. */
  title: string;
  /** Behind the public address. */
  path: string;
}

type Subject = Pick<Notice, 'type' | 'sessionId' | 'runId' | 'toolCallId'>;

/**
 * Where the reader of a notice can act: in the console, since colleagues cannot open the conversation of
 * another user. Its owner may open the same pages. Pure.
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
