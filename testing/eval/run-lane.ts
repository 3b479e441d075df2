import type { AgentDefinition, LlmConfig } from '../../agents/index.js';
import type { AgentResult } from '../../runs/run-result.js';
import { createInProcessExecutor } from '../../extensions/one-process/create-executor.js';
import type { PendingQuestion } from '../../protocol/replies.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { toUserMessage } from '../../store/record/user-message.js';
import type { EvalCase } from './case.js';
import { freeze } from './freeze.js';
import { createRecordedCalls } from './recorded-calls.js';
import { wasLeft } from './was-left.js';
import { toReplayedAgent } from './replayed-agent.js';

/** A call or question that the recording does not have. */
export interface Drift {
  tool: string;
  input: unknown;
  /** `question` if the call needs an answer now but did not in the recording. */
  what: 'call' | 'question';
}

/** Result of running the turns of a case. */
export interface LaneResult {
  /** The run in the form of a recording. */
  run: EvalCase;
  drift: Drift[];
  /** Error of a failed run. */
  error?: { code: string; message: string };
  ms: number;
}

export interface LaneOptions {
  agents: readonly AgentDefinition[];
  model?: LlmConfig['model'] | undefined;
  /** Tools that really execute unrecorded calls. Default: none. */
  live?: readonly string[] | undefined;
  services?: Readonly<Record<string, unknown>> | undefined;
}

/** Statuses of a stopped run. */
const STOPPED: ReadonlySet<string> = new Set(['interrupted', 'aborted']);
const SESSION = 'case';
const OWNER = 'eval';

/**
 * Drives an agent through the user's turns of a case, on memory stores in this process. Tools, client tools,
 * MCP tools, sub-agents and approvals replay the recording; nothing else is executed. The first drift ends the lane,
 * since a run without a tool's result is meaningless.
 *
 * @throws Error if no agent has the case's name
 */
export async function runLane(
  recording: EvalCase,
  { agents, model, live = [], services }: LaneOptions,
): Promise<LaneResult> {
  const agent = agents.find(({ name }) => name === recording.agent);
  if (agent === undefined) throw new Error(`there is no agent "${recording.agent}"`);
  const beganMs = performance.now();
  const drift: Drift[] = [];
  const stores = createMemoryStores();
  const { store } = stores;
  const recorded = createRecordedCalls(recording);
  const replayed = toReplayedAgent(agent, {
    recorded,
    model,
    live: new Set(live),
    inputOf: async (id) => (await store.calls.read(SESSION, id))?.spec.input,
    drifted: (tool, input) => {
      drift.push({ tool, input, what: 'call' });
      void executor.abort(SESSION, { reason: 'a call was not recorded' });
    },
  });
  const executor = createInProcessExecutor({
    stores,
    services,
    agents: [replayed],
  });
  let result: AgentResult | undefined;
  try {
    for (const [at, { user }] of recording.turns.entries()) {
      result = await playTurn(at, user);
      const goesOn = result.status === 'completed' || 'pending' in result;
      if (drift.length > 0 || !goesOn) break;
    }
    return { ...(await read(result)), drift, ms: Math.round(performance.now() - beganMs) };
  } finally {
    await executor.close();
  }

  async function playTurn(
    turn: number,
    user: EvalCase['turns'][number]['user'],
  ): Promise<AgentResult> {
    const begun = await executor.runs.execute({
      sessionId: SESSION,
      agent: replayed.name,
      owner: OWNER,
      messages: user.map((message, at) => {
        const id = `u${String(turn + 1)}-${String(at + 1)}`;
        return toUserMessage({ role: 'user', id, ...message });
      }),
    });
    if (begun.kind !== 'begun') throw new Error(`the turn did not begin: ${begun.kind}`);
    const handle = await executor.getHandle(SESSION);
    if (handle === null) throw new Error('the session is gone');
    const isLast = turn === recording.turns.length - 1;
    for (;;) {
      const rest = await handle.result();
      const questions = 'pending' in rest ? rest.pending : [];
      if (drift.length > 0 || questions.length === 0) return rest;
      if (await answerAll(questions)) continue;
      // As in the recording, the next message abandons open questions.
      if (drift.length > 0 || !isLast || !STOPPED.has(recording.status)) return rest;
      await (recording.status === 'aborted' ? handle.abort() : handle.interrupt());
      return handle.result();
    }
  }

  /** Answers questions as recorded; returns false if the recording lacks an answer. */
  async function answerAll(questions: readonly PendingQuestion[]): Promise<boolean> {
    let isAnswered = true;
    for (const question of questions) if (!(await answer(question))) isAnswered = false;
    return isAnswered;
  }

  async function answer(question: PendingQuestion): Promise<boolean> {
    const { toolCallId, toolName, input } = question;
    const handle = await executor.getHandle(SESSION);
    const found = recorded.of(toolCallId, toolName, input);
    const { decision, result: outcome } = found ?? {};
    if (question.kind === 'approval' && decision !== undefined) {
      const { approved, reason, input: changed } = decision;
      if (approved) await handle?.approve(toolCallId, { reason, input: changed });
      else await handle?.deny(toolCallId, { reason });
      return true;
    }
    if (found !== undefined && wasLeft(found, question.kind)) return false;
    if (question.kind !== 'approval' && outcome !== undefined && !('denied' in outcome)) {
      const { error } = 'error' in outcome ? outcome : {};
      const result = 'output' in outcome ? outcome.output : undefined;
      await handle?.answer(toolCallId, error === undefined ? { result } : { error });
      return true;
    }
    drift.push({ tool: toolName, input, what: 'question' });
    return false;
  }

  async function read(rest: AgentResult | undefined): Promise<Pick<LaneResult, 'run' | 'error'>> {
    const run = await freeze({ executor, store }, SESSION, recording.name);
    return rest?.status === 'failed'
      ? { run, error: { code: rest.error.code, message: rest.error.message } }
      : { run };
  }
}
