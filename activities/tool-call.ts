import { ApplicationFailure } from '@temporalio/activity';
import type { ToolDefinition } from '../agents/definitions.js';
import { StateError } from '../agents/state-error.js';
import type { CallActivityRef, RunActivities, ToolCallOutcome } from '../protocol/activities.js';
import { rootOf } from '../protocol/ids.js';
import type { StartCallResult } from '../stores/contract/calls.js';
import type { Writer } from '../stores/contract/log.js';
import { callWriter, openAttempt, type Attempt } from './attempt.js';
import { createChunkWriter } from './chunk-writer.js';
import type { ActivityDeps } from './deps.js';
import { openCallContext, type CallContext } from './tool/call-context.js';
import { executeTool } from './tool/execute-tool.js';
import { toFailure, toResult, toRunOutput, type ToolOutcome } from './tool/tool-outcome.js';

type Permission = Extract<StartCallResult, { kind: 'execute' }>;

/** One tool execution: Redis gives permission, the tool runs, its one result is settled. */
export function createToolCall(deps: ActivityDeps): RunActivities['toolCall'] {
  const { store, streamManager, agents, logger } = deps;

  return async (ref) => {
    const attempt = openAttempt(() => ({ toolCallId: ref.toolCallId }), deps.unansweredMs);
    const writer = callWriter(ref, attempt.token);
    let unlisten: (() => void) | undefined;
    try {
      unlisten = await streamManager.onStop(ref.sessionId, () => {
        attempt.cut('stop');
      });
      const start = await store.calls.start({
        writer,
        toolCallId: ref.toolCallId,
        now: Date.now(),
      });
      switch (start.kind) {
        case 'settled':
          return { kind: 'settled', ...((await hasFinished(ref)) && { finish: true }) };
        case 'refused':
          return { kind: 'settled' };
        case 'stopped':
        case 'superseded':
          return { kind: start.kind };
        case 'fenced':
          throw fenced();
        case 'execute':
          return await carryOut(ref, writer, attempt, start);
      }
    } finally {
      unlisten?.();
      attempt.close();
    }
  };

  async function carryOut(
    ref: CallActivityRef,
    writer: Writer,
    attempt: Attempt,
    start: Permission,
  ): Promise<ToolCallOutcome> {
    const chunks = createChunkWriter(streamManager, writer, {
      stop: () => {
        attempt.cut('stop');
      },
      lost: (loss) => {
        attempt.cut(loss);
      },
    });
    const agent = agents.resolve(ref.agent, { sessionId: ref.sessionId, runId: ref.runId });
    const tool = agent.tools.find(({ name }) => name === start.call.toolName);
    const signal = limited(attempt.signal, tool?.timeoutMs);
    let opened: CallContext | undefined;
    let outcome: ToolOutcome;
    try {
      const { execution } = start;
      const given = { ref, agent, execution, attempt, abortSignal: signal, chunks };
      opened = await openCallContext(deps, given);
      outcome =
        tool === undefined
          ? toFailure(`There is no tool named "${start.call.toolName}".`, 'unknown_tool')
          : await executeTool({
              tool,
              // What a person changed it to is what was approved.
              input: start.decision?.input ?? start.call.input,
              number: execution,
              attempt,
              signal,
              context: opened.context,
              logger,
            });
    } catch (error) {
      if (!(error instanceof StateError)) throw error;
      outcome = toFailure(error, error.code);
    } finally {
      opened?.close();
    }
    await chunks.flush();
    const ending = tool === undefined ? { outcome } : await toRunOutput(agent, tool, outcome);
    const decision = start.decision ?? start.call.decision;
    const { row, chunk } = toResult(ref, start.call, ending.outcome, decision);
    const { shownIn } = start;
    // What people were asked for a sub-agent stands in the conversation's message.
    const shown = shownIn === undefined ? {} : { agentId: rootOf(ref.sessionId), step: shownIn };
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
    if (settled.kind === 'fenced') throw fenced();
    return {
      kind: attempt.cutReason() === 'stop' ? 'stopped' : 'settled',
      ...(settled.kind === 'stored' && { sequence: settled.sequence }),
      ...(settled.kind === 'stored' && 'output' in ending && { finish: true }),
    };
  }

  /** True if an attempt before this one settled the call, and the run ends with its result. */
  async function hasFinished(ref: CallActivityRef): Promise<boolean> {
    const call = await store.calls.read(ref.sessionId, ref.toolCallId);
    if (call?.row?.role !== 'tool' || call.row.error !== undefined) return false;
    if (call.row.denied === true) return false;
    return findTool(ref, call.spec.toolName)?.finishWith !== undefined;
  }

  function findTool(ref: CallActivityRef, toolName: string): ToolDefinition | undefined {
    const agent = agents.resolve(ref.agent, { sessionId: ref.sessionId, runId: ref.runId });
    return agent.tools.find(({ name }) => name === toolName);
  }
}

function limited(signal: AbortSignal, timeoutMs: number | undefined): AbortSignal {
  if (timeoutMs === undefined) return signal;
  return AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
}

function fenced(): ApplicationFailure {
  return ApplicationFailure.create({ message: 'another attempt owns this call', type: 'fenced' });
}
