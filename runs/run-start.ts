import { resolveMaxSteps } from '../agents/define-agent.js';
import type { AgentRegistry } from '../agents/registry.js';
import { toShownSessionId } from '../protocol/ids.js';
import type { RunInput } from '../protocol/run.js';
import { legSpan, type RequestTracer } from '../protocol/telemetry.js';
import type { BeginResult, RunRecord } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import { startOf } from './record/run-standing.js';
import type { Deliveries } from './deliveries.js';
import type { ExecuteInput } from './runs.js';
import type { RunWorkflows } from './run-workflows.js';
import type { RunLabels } from './search-attributes.js';

export interface RunStartDeps {
  store: Pick<Store, 'sessions' | 'leases'>;
  agents: AgentRegistry;
  workflows: Pick<RunWorkflows, 'namespace'>;
  /** False when the server has no search attributes for runs. */
  searchAttributes: boolean;
  /** Absent without receivers. */
  deliveries?: Deliveries | undefined;
  /** True with a payload codec, so that texts of failures are encrypted as well. */
  sealsFailures?: boolean | undefined;
  /** For operators: the model's name, and the page that shows a conversation. */
  modelName?: string | undefined;
  sessionUrl?: ((sessionId: string, runId: string) => string) | undefined;
  /** Writes traces of what this process does to runs. Default: none. */
  tracer?: RequestTracer | undefined;
}

/** Arguments of a run's workflow. */
export interface RunStart {
  input: RunInput;
  labels: RunLabels;
}

/** Runs whose workflows are started by a workflow that calls them. */
export interface PreparedRuns {
  /** Accepts messages like `execute`, without a start of the workflow. */
  prepare: (input: ExecuteInput) => Promise<BeginResult>;
  /** Returns the workflow's arguments; undefined once the run has begun, and while it may not. */
  startOf: (sessionId: string, runId: string) => Promise<RunStart | undefined>;
}

export interface StartableRun extends Pick<
  RunRecord,
  'sessionId' | 'runId' | 'agent' | 'turn' | 'from'
> {
  /** Absent if the run starts at once. */
  startAt?: number | undefined;
}

export type ToRunStart = (run: StartableRun, tenant?: string) => Promise<RunStart>;

export function createRunStart(deps: RunStartDeps): ToRunStart {
  const { store, agents, tracer } = deps;
  const leases = store.leases?.of(deps.workflows.namespace);

  return async ({ sessionId, runId, agent, turn, from, startAt }, tenant) => {
    const userId = agents.isMade(agent) ? (await store.sessions.read(sessionId))?.owner : undefined;
    const definition = agents.resolve(agent, { sessionId, runId, userId, tenantId: tenant });
    const maxSteps = Math.min(resolveMaxSteps(definition), Number.MAX_SAFE_INTEGER);
    const shownId = toShownSessionId(sessionId);
    const sessionUrl = deps.sessionUrl?.(shownId, runId);
    const { trace } = legSpan({ runId, rootRunId: runId, number: 1 });
    const traceUrl = tracer?.urlOf({ trace, runId, sessionId: shownId });
    const input: RunInput = {
      sessionId,
      runId,
      agent,
      turn,
      maxSteps,
      searchAttributes: deps.searchAttributes,
      hasOutput: definition.outputSchema !== undefined,
      activities: definition.activities,
      // Either all workers hold leases or none does.
      hasLeases: ((await leases?.holders()) ?? []).length > 0,
      notify: deps.deliveries?.notify,
      model: deps.modelName,
      sessionUrl,
      traceparent: tracer?.request(),
      traceUrl,
      sealsFailures: deps.sealsFailures,
      ...(startAt !== undefined && { startAt }),
      from,
    };
    const details = [`Session \`${sessionId}\``, `Run \`${runId}\``];
    if (sessionUrl !== undefined) details.push(`[Conversation](${sessionUrl})`);
    if (traceUrl !== undefined) details.push(`[Trace](${traceUrl})`);
    return { input, labels: { details: details.join('\n\n'), tenant } };
  };
}

/** Reads a startable run from its record, for a start that was lost. */
export function toStartable(record: SessionRecord): StartableRun {
  const { runFromStep, runStartSequence } = record;
  // Progress of the turn before this run, which continues it.
  const from = runFromStep === 0 ? undefined : { step: runFromStep, known: runStartSequence };
  return { ...record, ...(from && { from }), startAt: startOf(record) };
}
