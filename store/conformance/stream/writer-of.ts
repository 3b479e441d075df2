import { NO_RUN, type Writer } from '../../contract/log.js';
import { AGENT } from '../fixtures.js';

/** A writer of a stream that belongs to no run. */
export const writerOf = (sessionId: string, token: number, name = 'w:one'): Writer => ({
  sessionId,
  runId: NO_RUN,
  name,
  token,
  agentType: AGENT,
  step: 1,
});
