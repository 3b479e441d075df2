import type { AgentRegistry } from '../agents/registry.js';
import type {
  CalledRun,
  CalledRunActivities,
  CalledRunRef,
  CalledRunRequest,
  CalledRunResult,
} from '../protocol/called-runs.js';
import { HelixError } from '../protocol/errors.js';
import { ANONYMOUS, isSessionId, toShownSessionId } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal } from '../protocol/run.js';
import type { Store } from '../stores/contract/store.js';
import { toStoredSessionId } from '../stores/record/stored-session-id.js';
import { readInput, readState } from './agent-input.js';
import { toBeginRefusal } from './begin-refusal.js';
import { findRunOf } from './executor-of.js';
import { readEndedResult, type AgentResult } from './run-result.js';
import type { PreparedRuns } from './run-start.js';
import type { Runs } from './runs.js';

export interface CalledRunsDeps {
  store: Pick<Store, 'sessions' | 'runs'>;
  agents: AgentRegistry;
  runs: PreparedRuns & Pick<Runs, 'stop'>;
}

/**
 * Runs that workflows begin: the record decides whether the session is free, as for any message. An
 * activity that is tried again finds the message accepted, and the run that was begun for it.
 *
 * @throws HelixError as `execute` of the executor does
 */
export function createCalledRuns({ store, agents, runs }: CalledRunsDeps): CalledRunActivities {
  async function begin(request: CalledRunRequest): Promise<CalledRun> {
    const { message, metadata, messageId, tenantId } = request;
    const owner = request.userId ?? ANONYMOUS;
    check(request.sessionId, owner, tenantId);
    const sessionId = toStoredSessionId(request.sessionId, tenantId);
    const agent = agents.resolve(request.agent, { sessionId, userId: owner });
    const { messages } = readInput(message, { messageId, metadata });
    const state = request.state && readState(agent, request.state);
    const tenant = tenantId === '' ? undefined : tenantId;
    const input = { sessionId, agent: agent.name, owner, tenant, messages, state };
    const result = await runs.prepare(input);
    if (result.kind !== 'begun' && result.kind !== 'accepted') {
      throw toBeginRefusal(request.sessionId, result);
    }
    const runId =
      result.kind === 'begun' ? result.run.runId : await findRunOf(store, sessionId, messageId);
    const start = await runs.startOf(sessionId, runId);
    return { sessionId, runId, ...(start && { start: { input: start.input, ...start.labels } }) };
  }

  /** Undefined if the message was never accepted. */
  async function find(
    ref: CalledRunRef,
  ): Promise<{ sessionId: string; runId: string } | undefined> {
    if ('runId' in ref) return ref;
    const { messageId } = ref;
    const sessionId = toStoredSessionId(ref.sessionId, ref.tenantId);
    const view = await store.sessions.view(sessionId);
    const isThere = view?.rows.some((row) => row.role === 'user' && row.id === messageId);
    if (isThere !== true) return undefined;
    return { sessionId, runId: await findRunOf(store, sessionId, messageId) };
  }

  return {
    beginAgentRun: begin,
    lookAtAgentRun: async ({ sessionId, runId, withoutReply }) => {
      const result = await readEndedResult(store, sessionId, runId);
      return result === undefined
        ? { kind: 'at_work' }
        : { kind: 'ended', result: toCalledResult(result, withoutReply) };
    },
    stopAgentRun: async ({ mode = 'interrupt', reason, ...ref }) => {
      const found = await find(ref);
      const record = found && (await store.sessions.read(found.sessionId));
      if (found === undefined || record?.runId !== found.runId || isTerminal(record.status)) return;
      await runs.stop(found.sessionId, { mode, reason, runId: found.runId, via: 'temporal' });
    },
  };
}

/** What arrives from a workflow is its author's, and may come from anywhere. */
function check(sessionId: unknown, owner: unknown, tenantId: unknown): void {
  if (!isSessionId(sessionId)) {
    throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
  }
  for (const id of [owner, tenantId ?? 'none']) {
    if (typeof id === 'string' && id.length > 0 && id.length <= LIMITS.idChars) continue;
    throw new HelixError('validation_error', 'The names of user and tenant must be short texts.');
  }
}

function toCalledResult(result: AgentResult, withoutReply = false): CalledRunResult {
  const { sessionId, text: whole, ...all } = result;
  const { output: _output, ...bare } = all as typeof all & { output?: unknown };
  const [text, rest] = withoutReply ? ['', bare] : [whole, all];
  const isCut = text.length > LIMITS.calledTextChars;
  const kept = isCut ? text.slice(0, LIMITS.calledTextChars).replace(/[\uD800-\uDBFF]$/, '') : text;
  const base = { sessionId: toShownSessionId(sessionId), text: kept, ...(isCut && { isCut }) };
  return { ...base, ...rest } as CalledRunResult;
}
