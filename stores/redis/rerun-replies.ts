import type { TerminalStatus } from '../../protocol/run.js';
import type {
  ResumeRunInput,
  ResumeRunResult,
  RewindInput,
  RewindResult,
  RunRecord,
} from '../contract/runs.js';
import type { BranchResult } from '../contract/sessions.js';
import type { ScriptReply } from './scripts.js';

/** Replies of the scripts that make runs for turns that had one → results. Pure. */

/** What lua/lib/runs.lua tells of the newest run. */
function toRunRecord(reply: ScriptReply, sessionId: string): RunRecord {
  const [, runId, agent, turn, messageId, startSequence, step, known, startedAt] = reply;
  return {
    sessionId,
    runId: String(runId),
    agent: String(agent),
    turn: Number(turn),
    messageId: String(messageId),
    startSequence: Number(startSequence),
    startedAt: Number(startedAt),
    ...(Number(step) > 0 && { from: { step: Number(step), known: Number(known) } }),
  };
}

export function toResumeRunResult(reply: ScriptReply, input: ResumeRunInput): ResumeRunResult {
  const [kind, a] = reply;
  switch (kind) {
    case 'RESUMED':
      return { kind: 'resumed', run: toRunRecord(reply, input.sessionId) };
    case 'ACTIVE':
      return { kind: 'active', runId: String(a) };
    case 'STALE':
      return { kind: 'stale_run', runId: String(a) };
    case 'FINAL':
      return { kind: 'final', status: String(a) as TerminalStatus };
    case 'NOT_FOUND':
      return { kind: 'not_found' };
    default:
      throw new Error(`script resume-run replied ${String(kind)}`);
  }
}

export function toRewindResult(reply: ScriptReply, input: RewindInput): RewindResult {
  const [kind, runId] = reply;
  switch (kind) {
    case 'REWOUND':
      return { kind: 'rewound', run: toRunRecord(reply, input.sessionId) };
    case 'BUSY':
      return { kind: 'busy', runId: String(runId) };
    case 'STALE':
      return { kind: 'stale_run', runId: String(runId) };
    case 'CHECKPOINT':
      return { kind: 'checkpoint_not_found' };
    case 'MESSAGE':
      return { kind: 'message_not_found' };
    case 'CONFLICT':
      return { kind: 'conflict', messageId: String(runId) };
    case 'NOT_FOUND':
      return { kind: 'not_found' };
    default:
      throw new Error(`script rewind replied ${String(kind)}`);
  }
}

export function toBranchResult([kind]: ScriptReply): BranchResult {
  if (kind === 'BRANCHED') return { kind: 'branched' };
  if (kind === 'EXISTS') return { kind: 'exists' };
  throw new Error(`script branch replied ${String(kind)}`);
}
