import { randomBytes } from 'node:crypto';
import { resolveMaxSteps } from '../agents/define-agent.js';
import type { AgentRegistry } from '../agents/registry.js';
import { isTerminal, type Resumption, type RunInput } from '../protocol/run.js';
import type { SessionRecord, SessionStore } from '../stores/session-store.js';
import { readPartialReply } from '../stores/partial-reply.js';
import type { StreamManager } from '../stores/stream-manager.js';
import type { AgentExecutor } from './agent-executor.js';
import { createAnswers } from './answers.js';
import type { RunWorkflows } from './run-workflows.js';

/** A stop that no writer has confirmed after this long is carried out without it. */
const STOP_CONFIRM_MS = 2_000;
/** A run is looked at by the sweeper this long after it was made. */
const FIRST_SWEEP_MS = 3_000;

export interface ExecutorDeps {
  store: SessionStore;
  streamManager: Pick<StreamManager, 'read'>;
  workflows: RunWorkflows;
  agents: AgentRegistry;
  /** False when the server has no search attributes for runs. */
  searchAttributes: boolean;
  /** For operators: what the runs' model is called, and where a conversation can be seen. */
  modelName?: string;
  sessionUrl?: (sessionId: string) => string;
  logger: { warn: (fields: object, message: string) => void };
}

/** Adds what keeps runs going to what the HTTP side uses. */
export interface TemporalAgentExecutor extends AgentExecutor {
  /** Starts the workflow of the session's newest run; harmless when it was started before. */
  startRun: (record: SessionRecord) => Promise<void>;
  /** Wakes a run whose answers are complete and not yet taken. */
  wake: (record: SessionRecord, resume: Resumption) => Promise<void>;
  /** Ends a run whose workflow is gone; what it had said is kept. */
  endLost: (record: SessionRecord) => Promise<void>;
}

/** Starts, signals and stops runs. Redis is written first, so a lost signal loses nothing. */
export function createTemporalExecutor(deps: ExecutorDeps): TemporalAgentExecutor {
  const { store, streamManager, workflows, agents, logger } = deps;

  /** A wake-up that does not arrive is given again by the sweeper. */
  function lostSignal(runId: string) {
    return (error: unknown): void => {
      logger.warn({ err: error, runId }, 'the run could not be signalled');
    };
  }

  async function startRun(
    run: Pick<SessionRecord, 'sessionId' | 'runId' | 'agent' | 'turn' | 'tenant'>,
  ): Promise<void> {
    const { sessionId, runId, agent, turn, tenant } = run;
    const definition = agents.resolve(agent);
    const maxSteps = Math.min(resolveMaxSteps(definition), Number.MAX_SAFE_INTEGER);
    const sessionUrl = deps.sessionUrl?.(sessionId);
    const input: RunInput = {
      sessionId,
      runId,
      agent,
      turn,
      maxSteps,
      searchAttributes: deps.searchAttributes,
      ...(definition.outputSchema !== undefined && { hasOutput: true }),
      ...(deps.modelName !== undefined && { model: deps.modelName }),
      ...(sessionUrl !== undefined && { sessionUrl }),
    };
    const details = [`Session \`${sessionId}\``, `Run \`${runId}\``];
    if (sessionUrl !== undefined) details.push(`[Conversation](${sessionUrl})`);
    await workflows.start(input, {
      details: details.join('\n\n'),
      ...(tenant !== undefined && { tenant }),
    });
  }

  async function wake(record: SessionRecord, resume: Resumption): Promise<void> {
    await workflows.answer(record.runId, { toolCallId: '', by: 'sweeper', resume });
  }

  /** No writer confirmed: its step is folded from the log, and it is fenced off. */
  async function enforceStop(sessionId: string, runId: string): Promise<void> {
    const record = await store.readRecord(sessionId);
    if (record?.runId !== runId || isTerminal(record.status)) return;
    const mode = record.stop?.mode ?? 'interrupt';
    const row = await readPartialReply(streamManager, record, mode);
    await store.end({
      sessionId,
      runId,
      agentType: record.agent,
      step: record.claimedStep,
      status: mode === 'abort' ? 'aborted' : 'interrupted',
      ...(row !== undefined && { row }),
      now: Date.now(),
    });
  }

  async function endLost(record: SessionRecord): Promise<void> {
    const { sessionId, runId, agent, committedStep } = record;
    const row = await readPartialReply(streamManager, record, 'failure');
    await store.end({
      sessionId,
      runId,
      agentType: agent,
      step: row?.step ?? committedStep,
      status: 'failed',
      error: {
        code: 'framework_run_lost',
        message: 'The run was ended from outside. Send a message to go on.',
        retryable: true,
      },
      ...(row !== undefined && { row }),
      now: Date.now(),
    });
  }

  return {
    execute: async (input) => {
      const nonce = randomBytes(6).toString('hex');
      // One connection keeps the order: the index is written before the run exists.
      const [, result] = await Promise.all([
        store.noteDue(input.sessionId, FIRST_SWEEP_MS),
        store.begin({ ...input, nonce, now: Date.now() }),
      ]);
      if (result.kind !== 'begun') return result;
      const { run } = result;
      const old = run.supersededRunId;
      if (old !== undefined) void workflows.stop(old, { recorded: true }).catch(lostSignal(old));
      await startRun({ ...run, ...(input.tenant !== undefined && { tenant: input.tenant }) });
      return result;
    },
    ...createAnswers({ store, agents, workflows, logger }),
    stop: async (sessionId, stop) => {
      const result = await store.stop(sessionId, stop);
      if (result.kind === 'nothing') return result;
      const { runId } = result;
      void workflows.stop(runId, { recorded: true }).catch(lostSignal(runId));
      if (result.kind === 'stopping') {
        setTimeout(() => {
          enforceStop(sessionId, runId).catch(lostSignal(runId));
        }, STOP_CONFIRM_MS).unref();
      }
      return result;
    },
    startRun,
    wake,
    endLost,
  };
}
