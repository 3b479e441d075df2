import { randomBytes } from 'node:crypto';
import type { AgentDefinition, ToolDefinition } from '../agents/definitions.js';
import { StateError } from '../agents/tool-error.js';
import type { CallActivityRef, ToolCallOutcome } from '../protocol/temporal.js';
import { rootOf } from '../protocol/ids.js';
import { isTerminal } from '../protocol/run.js';
import { endsWithin, retryDelay } from '../protocol/time.js';
import type { CallPermission, StartCallInput } from '../store/contract/calls.js';
import type { Writer } from '../store/contract/log.js';
import {
  type Attempt,
  AttemptFailure,
  handOver,
  TOOL_RETRY,
  TOOLS_BUSY,
  writerOf,
} from './attempt.js';
import { cutOnStop } from './cut-on-stop.js';
import { createChunkWriter } from './chunk-writer.js';
import type { WorkDeps } from './deps.js';
import { fenced } from './end-step.js';
import type { ToolWatch } from './extension.js';
import type { Patience } from './lease.js';
import { openCallContext, toCallIdentity, type CallContext } from './tool/call-context.js';
import { createFairSlots, type SlotLimits } from '../protocol/fair-slots.js';
import { executeTool, verifyCall } from './tool/execute-tool.js';
import {
  toFailure,
  toGivenUp,
  toResult,
  toRunOutput,
  type ToolOutcome,
} from './tool/tool-outcome.js';
import { leaveToNewerWorker, type RunAgents } from './run-agent.js';

/** Longest wait for a tool slot in this process; then the call moves elsewhere. */
const SLOT_WAIT_MS = 20_000;
/** Back-off of a call without a slot; a call that waits at the server costs nothing. */
const BUSY_RETRY = { firstMs: 5_000, mostMs: 30_000 };

/** Concurrent tool executions of one process, separate from its model calls. */
export const TOOL_SLOTS: SlotLimits = { total: 200, perUser: 50 };

/** A call that may execute. */
interface PermittedCall {
  agent: AgentDefinition | undefined;
  tool: ToolDefinition | undefined;
  ref: CallActivityRef;
  writer: Writer;
  attempt: Attempt;
  start: CallPermission;
  /** Fires when the attempt is cut or the tool times out. */
  signal: AbortSignal;
  /** Result of a lost execution, which replaces a new one. */
  found?: ToolOutcome | undefined;
}

/** Runs one attempt at a call. @throws AttemptFailure, AttemptCancelled */
export type ToolCall = (
  ref: CallActivityRef,
  attempt: Attempt,
  /** Time limit of a tool without one of its own, ms. Default: the activity's. */
  limitMs?: number,
) => Promise<ToolCallOutcome>;

/** Executes a call: Redis gives permission, the tool runs, and its one result settles the call. */
export function createToolCall(deps: WorkDeps, runAgents: RunAgents): ToolCall {
  const { store, streamManager, logger, middleware = [], toolSlots = TOOL_SLOTS } = deps;
  const slots = createFairSlots(toolSlots);

  return async (asked, attempt, limitMs) => {
    const isBlocked = asked.replaces?.blockedBy === asked.toolCallId;
    const ref: CallActivityRef = isBlocked ? { ...asked, givenUp: 'blocked' } : asked;
    const writer = writerOf(ref, attempt.token);
    let giveBack: (() => void) | undefined;
    let patience: Patience | undefined;
    let isBegun = false;
    const unlisten = cutOnStop(deps, ref, attempt);
    try {
      const agent = await runAgents.withChosenTools(ref);
      const tool = agent?.tools.find(({ name }) => name === ref.toolName);
      if (ref.givenUp === undefined) {
        // A worker of another build may know the tool.
        if (tool === undefined && !(await isOver(ref))) {
          leaveToNewerWorker(attempt, `a tool "${ref.toolName}" of an agent "${ref.agent}"`);
        }
        // A call in a model's slot does not wait for a tool slot: it moves to the tools' own queue.
        const waitMs = ref.eager === true ? 0 : SLOT_WAIT_MS;
        giveBack = await slots.take(await userOf(ref), waitMs, attempt.signal);
        // A stopped call needs no slot to report the stop; a draining worker begins none.
        if (giveBack === undefined && attempt.cutReason() !== 'stop') {
          // Any worker may take the next attempt.
          const afterMs = retryDelay({ attempt: attempt.number, ...BUSY_RETRY });
          throw new AttemptFailure('all places for tools are taken', { type: TOOLS_BUSY, afterMs });
        }
      }
      patience = tool?.idempotent === true ? undefined : attempt.becomePatient();
      const canVerify = tool?.verify !== undefined;
      const request = (more: Pick<StartCallInput, 'canVerify' | 'verified'>) =>
        store.calls.start(
          {
            writer,
            toolCallId: ref.toolCallId,
            now: Date.now(),
            budget: attempt.budget,
            withState: agent?.stateSchema !== undefined,
            ...(tool?.execute === 'webhook' && { hook: randomBytes(32).toString('base64url') }),
            ...more,
          },
          patience?.noted,
        );
      let start = await request({ canVerify });
      isBegun = start.kind === 'verify' || start.kind === 'execute';
      const timeoutMs = tool?.timeoutMs ?? limitMs;
      const permitted = (start: CallPermission): PermittedCall => {
        const { signal: cut } = attempt;
        const signal = timeoutMs === undefined ? cut : endsWithin(timeoutMs, cut);
        // The record names the tool, whatever the activity's input says.
        const named = agent?.tools.find(({ name }) => name === start.call.toolName);
        return { agent, tool: named, ref, writer, attempt, start, signal };
      };
      let found: ToolOutcome | undefined;
      if (start.kind === 'verify') {
        const { tool, signal } = permitted(start);
        const call = { ...toCallIdentity(ref, start), services: deps.services };
        const lost = { tool, input: toInput(start), call, attempt, signal, logger };
        const verified = await verifyCall(lost);
        if (verified.kind === 'done') found = verified.outcome;
        else start = await request({ canVerify, verified: verified.kind });
      }
      switch (start.kind) {
        case 'settled':
        case 'refused':
          return { kind: 'settled' };
        case 'suspended':
        case 'stopped':
        case 'superseded':
          return { kind: start.kind };
        case 'fenced':
          throw fenced('call');
        case 'verify':
          if (found === undefined) throw fenced('call');
          return await executePermitted({ ...permitted(start), found });
        case 'execute':
          return await executePermitted(permitted(start));
      }
    } catch (error) {
      if (isBegun) await handOver(deps, attempt, writer, error, ref.toolCallId);
      else attempt.noteUnbegun();
      throw error;
    } finally {
      patience?.end();
      giveBack?.();
      unlisten();
    }
  };

  async function executePermitted(permitted: PermittedCall): Promise<ToolCallOutcome> {
    const { agent, tool, ref, writer, attempt, start, signal, found } = permitted;
    const chunks = createChunkWriter(streamManager, writer, attempt.cut);
    const { shownIn } = start;
    // A sub-agent's questions stand in the conversation's message.
    const shown = shownIn === undefined ? {} : { agentId: rootOf(ref.sessionId), step: shownIn };
    const beganMs = performance.now();
    const { toolName } = start.call;
    const { execution: number } = start;
    const input = toInput(start);
    const watches = middleware.flatMap((each) => each.tool({ ref, toolName, input, number }) ?? []);
    const reportEnd: ToolWatch['ended'] = (end) => {
      for (const { ended } of watches) ended(end);
    };
    let opened: CallContext | undefined;
    let outcome: ToolOutcome;
    try {
      if (found !== undefined) {
        outcome = found;
      } else if (ref.givenUp !== undefined) {
        outcome = toGivenUp(toolName, ref.givenUp);
      } else if (agent === undefined || tool === undefined) {
        outcome = toFailure(`There is no tool named "${toolName}".`, 'unknown_tool');
      } else {
        const given = { ref, agent, attempt, abortSignal: signal, chunks };
        opened = openCallContext(deps, { ...given, permission: start, shown });
        const { context, webhookUrl } = opened;
        const running = { tool, input, number, attempt, signal, context, webhookUrl };
        const execute = watches.reduceRight<() => Promise<ToolOutcome>>(
          (next, { around }) =>
            () =>
              around(next),
          () => executeTool({ ...running, logger }),
        );
        outcome = await execute();
      }
    } catch (error) {
      if (tool !== undefined && isRetry(error)) {
        deps.meter?.({ kind: 'tool_retried', tool: tool.name });
        reportEnd({ error: TOOL_RETRY });
      }
      if (!(error instanceof StateError)) throw error;
      outcome = toFailure(error, error.code);
    } finally {
      opened?.close();
    }
    const seconds = (performance.now() - beganMs) / 1_000;
    await chunks.flush();
    // The webhook's answer to `send` is still to come.
    if (tool?.execute === 'webhook' && !('error' in outcome)) {
      const { toolCallId } = ref;
      const changes = opened?.changes() ?? [];
      const reply = await store.calls.suspend({ writer, toolCallId, now: Date.now(), changes });
      if (reply.kind === 'fenced') throw fenced('call');
      return { kind: reply.kind };
    }
    const ending = await toRunOutput(agent, tool, outcome);
    const decision = start.decision ?? start.call.decision;
    const { row, chunk } = toResult(ref, start.call, ending.outcome, decision);
    const settled = await store.calls.settle({
      source: 'tool',
      writer,
      toolCallId: ref.toolCallId,
      row,
      changes: opened?.changes() ?? [],
      hasEvents: opened?.hasEvents() === true,
      ...('output' in ending && { output: ending.output }),
      chunks: [{ ...chunk, ...shown }],
      now: Date.now(),
    });
    if (settled.kind === 'fenced') throw fenced('call');
    const error = 'error' in ending.outcome ? ending.outcome.errorCode : undefined;
    if (settled.kind === 'stored') {
      const executed = { agent: writer.agentType, tool: tool?.name ?? 'other' };
      deps.meter?.({ kind: 'tool_executed', ...executed, seconds, code: error });
      reportEnd({ output: row.output, error });
    }
    return {
      kind: attempt.cutReason() === 'stop' ? 'stopped' : 'settled',
      ...(settled.kind === 'stored' && { sequence: settled.sequence, at: settled.at }),
      ...(error !== undefined && { error }),
    };
  }

  /** Returns true if no worker executes the call any more: its run has ended or was replaced. */
  async function isOver({ sessionId, runId }: CallActivityRef): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    if (record?.runId !== runId) return true;
    return isTerminal(record.status) || record.stop !== undefined;
  }

  /** Returns the user whose share of tool slots the call takes. */
  async function userOf(ref: CallActivityRef): Promise<string> {
    const { tenant = '', owner } = (await runAgents.findOwner(ref)) ?? { owner: ref.sessionId };
    return JSON.stringify([tenant, owner]);
  }
}

/** Returns the input; a person's change is the approved input. */
function toInput({ decision, call }: CallPermission): unknown {
  return decision?.input ?? call.input;
}

function isRetry(error: unknown): boolean {
  return error instanceof AttemptFailure && error.next.type === TOOL_RETRY;
}
