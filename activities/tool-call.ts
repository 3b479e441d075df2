import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import type { ToolDefinition } from '../agents/definitions.js';
import type { ToolContext } from '../agents/tool-context.js';
import { ToolError } from '../agents/tool-error.js';
import type { CallActivityRef, RunActivities, ToolCallOutcome } from '../protocol/activities.js';
import type { StreamChunk } from '../protocol/chunk.js';
import { LIMITS } from '../protocol/limits.js';
import type { Decision, ToolRow } from '../protocol/rows.js';
import { toCheckedJson } from '../stores/checked-messages.js';
import type { CallSpec, StartCallResult, Writer } from '../stores/session-store.js';
import { callWriter, openAttempt, type Attempt } from './attempt.js';
import { createChunkWriter, type ChunkWriter } from './chunk-writer.js';
import type { ActivityDeps } from './deps.js';
import { checkForwarded } from './forwarded-chunks.js';

/** One tool execution: Redis gives permission, the tool runs, its one result is settled. */
export function createToolCall(deps: ActivityDeps): RunActivities['toolCall'] {
  const { store, streamManager, agents } = deps;

  return async (ref) => {
    const attempt = openAttempt(() => ({ toolCallId: ref.toolCallId }));
    const writer = callWriter(ref, attempt.token);
    let unlisten: (() => void) | undefined;
    try {
      unlisten = await streamManager.onStop(ref.sessionId, () => {
        attempt.cut('stop');
      });
      const start = await store.startCall({
        writer,
        toolCallId: ref.toolCallId,
        now: Date.now(),
      });
      switch (start.kind) {
        case 'settled':
        case 'refused':
          return { kind: 'settled' };
        case 'stopped':
        case 'superseded':
          return { kind: start.kind };
        case 'fenced':
          throw ApplicationFailure.create({
            message: 'another attempt owns this call',
            type: 'fenced',
          });
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
    { call, execution, decision }: Extract<StartCallResult, { kind: 'execute' }>,
  ): Promise<ToolCallOutcome> {
    const chunks = createChunkWriter(streamManager, writer, {
      stop: () => {
        attempt.cut('stop');
      },
      lost: (loss) => {
        attempt.cut(loss);
      },
    });
    const tool = agents.resolve(ref.agent).tools.find(({ name }) => name === call.toolName);
    const outcome = await execute(ref, attempt, tool, call, execution, chunks);
    await chunks.flush();
    const { row, chunk } = toResult(ref, call, outcome, decision ?? call.decision);
    const settled = await store.settleCall({
      source: 'tool',
      writer,
      toolCallId: ref.toolCallId,
      row,
      chunks: [chunk],
      now: Date.now(),
    });
    if (settled.kind === 'fenced') {
      throw ApplicationFailure.create({
        message: 'another attempt owns this call',
        type: 'fenced',
      });
    }
    return {
      kind: attempt.cutReason() === 'stop' ? 'stopped' : 'settled',
      ...(settled.kind === 'stored' && { sequence: settled.sequence }),
    };
  }

  async function execute(
    ref: CallActivityRef,
    attempt: Attempt,
    tool: ToolDefinition | undefined,
    call: CallSpec,
    execution: number,
    chunks: ChunkWriter,
  ): Promise<Outcome> {
    if (typeof tool?.execute !== 'function') {
      return { error: `There is no tool named "${call.toolName}".`, errorCode: 'unknown_tool' };
    }
    const signal =
      tool.timeoutMs === undefined
        ? attempt.signal
        : AbortSignal.any([attempt.signal, AbortSignal.timeout(tool.timeoutMs)]);
    try {
      const input = await tool.inputSchema.parseAsync(call.input);
      const context = toContext(ref, call, execution, signal, chunks, attempt);
      const result = await untilAborted(Promise.resolve(tool.execute(input, context)), signal);
      const output: unknown =
        tool.outputSchema === undefined ? result : await tool.outputSchema.parseAsync(result);
      return bounded(output);
    } catch (error) {
      if (attempt.cancelled()) throw new CancelledFailure('the worker goes away');
      deps.logger.info({ err: error, runId: ref.runId, toolCallId: ref.toolCallId }, 'tool failed');
      if (signal.aborted && attempt.cutReason() === undefined) {
        return { error: `"${tool.name}" took longer than allowed.`, errorCode: 'tool_timeout' };
      }
      const text = error instanceof Error ? error.message : String(error);
      return {
        error: text.slice(0, LIMITS.errorTextBytes / 4),
        errorCode: ToolError.isInstance(error) ? error.code : 'tool_execution_failed',
      };
    }
  }

  function toContext(
    ref: CallActivityRef,
    call: CallSpec,
    execution: number,
    abortSignal: AbortSignal,
    chunks: ChunkWriter,
    attempt: Attempt,
  ): ToolContext {
    return {
      sessionId: ref.sessionId,
      runId: ref.runId,
      agentId: ref.sessionId,
      agentType: ref.agent,
      toolCallId: call.toolCallId,
      idempotencyKey: `${ref.runId}/${call.toolCallId}`,
      attempt: execution,
      abortSignal,
      emit: async (eventName, data) => {
        const chunk: StreamChunk = {
          type: 'custom',
          ...toBase(ref),
          eventName,
          data: data ?? null,
        };
        // Refused here, what does not fit is the tool's error and not that of its writer.
        toCheckedJson([chunk]);
        chunks.push([chunk]);
        await chunks.flush();
      },
      step: ref.step,
      forward: async (given) => {
        chunks.push(checkForwarded(ref.sessionId, given));
        await chunks.flush();
      },
      isHandedOver: () => attempt.cancelled() || attempt.cutReason() === 'fenced',
      services: deps.services,
    };
  }
}

type Outcome = { output: unknown } | { error: string; errorCode: string };

function bounded(output: unknown): Outcome {
  // What JSON cannot carry (functions, undefined) becomes null; BigInt and cycles throw to the caller.
  const json = JSON.stringify(output) as string | undefined;
  if (json === undefined) return { output: null };
  if (Buffer.byteLength(json) > LIMITS.answerBytes) {
    return { error: 'The result is too large.', errorCode: 'tool_result_too_large' };
  }
  return { output: JSON.parse(json) as unknown };
}

function toResult(
  ref: CallActivityRef,
  { toolCallId, toolName, kind }: CallSpec,
  outcome: Outcome,
  decision: Decision | undefined,
): { row: ToolRow; chunk: StreamChunk } {
  const failed = 'error' in outcome;
  const result: unknown = failed ? null : outcome.output;
  const error = failed ? { error: outcome.error, errorCode: outcome.errorCode } : {};
  return {
    row: {
      role: 'tool',
      toolCallId,
      toolName,
      ...(failed ? error : { output: result }),
      ...(decision !== undefined && { decision }),
    },
    chunk: {
      type: 'tool_end',
      ...toBase(ref),
      toolCallId,
      toolName,
      result,
      ...error,
      // A call that a person approved counts as the client's; see PROTOCOL.md.
      ...(kind === 'server' && { providerExecuted: true }),
    },
  };
}

function toBase(ref: CallActivityRef): {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
} {
  return { agentId: ref.sessionId, agentType: ref.agent, step: ref.step, timestamp: Date.now() };
}

/** A tool that ignores its signal does not hold up the run. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('the call was cut short'));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
