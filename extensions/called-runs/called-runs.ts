import type { AgentRegistry } from '../../agents/registry.js';
import type {
  CalledRun,
  CalledRunActivities,
  CalledRunRef,
  CalledRunRequest,
  CalledRunResult,
} from '../../protocol/temporal.js';
import { hasCode, HelixError } from '../../protocol/errors.js';
import { ANONYMOUS, isSessionId, toShownSessionId } from '../../protocol/ids.js';
import { LIMITS, startOf } from '../../protocol/limits.js';
import { toPerson } from '../../protocol/actor.js';
import { isTerminal } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { readInput, readState } from '../../runs/agent-input.js';
import type { PreparedRuns } from '../../runs/begins.js';
import { refusal, runOfMessage, toRefusal } from '../../runs/refusals.js';
import { readEndedResult, type AgentResult } from '../../runs/run-result.js';
import type { Runs } from '../../runs/runs.js';

export interface CalledRunsDeps {
  store: Pick<Store, 'sessions' | 'runs' | 'queue' | 'owners'>;
  agents: AgentRegistry;
  runs: PreparedRuns & Pick<Runs, 'stop'>;
}

/**
 * Begins runs for workflows. The record decides whether the session is free, as for any message. A
 * retried activity finds the accepted message and its run.
 *
 * @throws HelixError as `execute` of the executor does
 */
export function createCalledRuns({ store, agents, runs }: CalledRunsDeps): CalledRunActivities {
  /** Finds the stored id and record of these people's session; refuses a stranger's at once. */
  async function locate({
    sessionId,
    tenantId,
    userId = ANONYMOUS,
  }: Owned): Promise<{ storedId: string; record?: SessionRecord | undefined }> {
    const storedId = toStoredSessionId(sessionId, tenantId);
    const record = await store.sessions.read(storedId);
    const isTheirs = record?.owner === userId && (record.tenant ?? '') === (tenantId ?? '');
    if (record !== undefined && !isTheirs) throw refusal('not_found');
    return { storedId, record };
  }

  async function begin(request: CalledRunRequest): Promise<CalledRun> {
    check(request);
    const { message, metadata, messageId, whenBusy, tenantId } = request;
    const owner = request.userId ?? ANONYMOUS;
    const { by, askers = [{ by: by ?? owner }] } = request;
    const { storedId: sessionId } = await locate(request);
    const agent = agents.resolve(request.agent, { sessionId, userId: owner, tenantId });
    const { messages } = readInput(message, { messageId, metadata });
    const state = request.state && readState(agent, request.state);
    const result = await runs.prepare({
      sessionId,
      agent: agent.name,
      owner,
      tenant: tenantId,
      messages,
      state,
      by,
      askers: askers.map(({ by: name, personId }) => toPerson(name, { tenantId, personId })),
      keepsQuestions: whenBusy !== 'abandon',
    });
    // A queued message is accepted, too: behind others, or by an earlier try.
    const isAccepted = result.kind === 'accepted' || result.kind === 'queued';
    if (result.kind !== 'begun' && !isAccepted) throw toRefusal(request.sessionId, result);
    const runId =
      result.kind === 'begun' ? result.run.runId : await runOfMessage(store, sessionId, messageId);
    const start = await runs.startOf(sessionId, runId);
    return { sessionId, runId, ...(start && { start: { input: start.input, ...start.labels } }) };
  }

  /** Finds the run of a message, and takes a queued one back. Undefined if it has no run. */
  async function find(
    ref: CalledRunRef,
  ): Promise<{ sessionId: string; runId: string } | undefined> {
    if ('runId' in ref) return ref;
    const { messageId } = ref;
    if (!isSessionId(ref.sessionId)) return undefined;
    try {
      const { storedId: sessionId, record } = await locate(ref);
      if (record === undefined) return undefined;
      await store.queue.remove({ sessionId, messageId, now: Date.now() });
      // An earlier try may have removed it without updating the owner's count of queued messages.
      await store.owners.fold(sessionId);
      return { sessionId, runId: await runOfMessage(store, sessionId, messageId) };
    } catch (error) {
      if (hasCode(error, 'not_found')) return undefined;
      throw error;
    }
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

type Owned = Pick<CalledRunRequest, 'sessionId' | 'tenantId' | 'userId'>;

/** Checks a request from a workflow, whose values may come from anywhere. */
function check({
  sessionId,
  userId = ANONYMOUS,
  by = userId,
  askers = [],
  tenantId,
  ...sent
}: CalledRunRequest): void {
  if (!isSessionId(sessionId)) {
    throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
  }
  const names = [userId, tenantId ?? 'none', by, ...askers.map((asker) => asker.by)];
  for (const id of [...names, sent.agent, sent.messageId] as unknown[]) {
    if (typeof id === 'string' && id.length > 0 && id.length <= LIMITS.idChars) continue;
    throw new HelixError(
      'validation_error',
      'The names of agent, users and tenant, and the id of the message, must be short texts.',
    );
  }
  if (typeof (sent.message as unknown) !== 'string') {
    throw new HelixError('validation_error', 'The message must be a text.');
  }
}

function toCalledResult(result: AgentResult, withoutReply = false): CalledRunResult {
  const { sessionId, text: whole, ...all } = result;
  const { output: _output, ...bare } = all as typeof all & { output?: unknown };
  const [text, rest] = withoutReply ? ['', bare] : [whole, all];
  const isCut = text.length > LIMITS.calledTextChars;
  const kept = isCut ? startOf(text, LIMITS.calledTextChars) : text;
  const base = { sessionId: toShownSessionId(sessionId), text: kept, ...(isCut && { isCut }) };
  return { ...base, ...rest } as CalledRunResult;
}
