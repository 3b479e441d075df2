import type { LogEntry, StreamChunk } from '../protocol/chunk.js';
import type { TimelineSpan } from '../protocol/timeline.js';

/** A span before its run is known: sub-agents are named by their session. */
export type FoldedSpan = Omit<TimelineSpan, 'runId'> & { sessionId: string };

export interface TimelineFold {
  /** Takes the next entry of the log. */
  add: (entry: LogEntry) => void;
  /** What the run has done so far, in the order of beginnings. */
  spans: () => FoldedSpan[];
  /** True once the end of the run was read. */
  hasEnded: () => boolean;
}

/** Who a span is of, where and when it begins. */
type Speaker = Pick<StreamChunk, 'agentId' | 'agentType' | 'step' | 'timestamp'>;

interface FoldOptions {
  runId: string;
  startedAt: number;
  /** True for a run that continues a turn: what earlier runs of the turn wrote is left out. */
  continues: boolean;
}

/** Chunks that say nothing about times; most of a log. */
const SKIPPED: ReadonlySet<string> = new Set(['text_delta', 'thinking', 'tool_arg_stream_delta']);

/** Failures of a run between its steps, or from outside: no step of the model has failed. */
const NO_STEP: ReadonlySet<string> = new Set([
  'engine_unavailable',
  'framework_run_lost',
  'spend_cap_reached',
  'state_lost',
  'stop_condition_failed',
]);

/** Folds the log of a turn into what one run did and when. Pure. */
export function createTimelineFold({ runId, startedAt, continues }: FoldOptions): TimelineFold {
  let spans: FoldedSpan[] = [];
  let hasBegun = !continues;
  let hasEnded = false;
  /** When each agent became free to ask its model again. */
  const freeAt = new Map<string, number>();
  const models = new Map<string, FoldedSpan>();
  /** What was called last for each call: the question, then the execution. */
  const calls = new Map<string, FoldedSpan>();
  let resumedAt = startedAt;

  function begin(chunk: Speaker, kind: FoldedSpan['kind'], more: Partial<FoldedSpan> = {}) {
    const span: FoldedSpan = {
      kind,
      sessionId: chunk.agentId,
      agent: chunk.agentType,
      step: chunk.step,
      startedAt: chunk.timestamp,
      state: 'open',
      ...more,
    };
    spans.push(span);
    return span;
  }

  function call(
    chunk: StreamChunk & { toolCallId: string; toolName: string },
    kind: 'tool' | 'wait',
  ) {
    const { toolCallId, toolName: name } = chunk;
    calls.set(toolCallId, begin(chunk, kind, { toolCallId, name }));
  }

  function end(span: FoldedSpan | undefined, at: number, more: Partial<FoldedSpan> = {}): void {
    if (span?.endedAt !== undefined) return;
    if (span !== undefined) Object.assign(span, { endedAt: at, state: 'done', ...more });
  }

  /** The step that a run failed in; a model without output has left no other trace of it. */
  function fail(speaker: Speaker, error: string, code = ''): void {
    const { agentId, timestamp: at } = speaker;
    // What it cut off is not at fault.
    if (code === 'framework_cancelled') return;
    const newest = models.get(agentId);
    if (newest !== undefined && ['open', 'failed'].includes(newest.state)) {
      end(newest, at, { state: 'failed' });
      newest.error = error;
      return;
    }
    const from = Math.max(freeAt.get(agentId) ?? 0, resumedAt);
    // The end of a run closes its calls first: no model was called.
    if (NO_STEP.has(code) || from >= at) return;
    const step = Math.max(speaker.step, (newest?.step ?? 0) + 1);
    begin(speaker, 'model', { step, startedAt: from, endedAt: at, state: 'failed', error });
  }

  function take(chunk: StreamChunk): void {
    const { agentId, timestamp: at } = chunk;
    switch (chunk.type) {
      case 'error':
        if (!chunk.recoverable) fail(chunk, chunk.error, chunk.code);
        return;
      case 'step_start': {
        if (chunk.stepId === 'ask') return;
        const from = Math.max(freeAt.get(agentId) ?? 0, resumedAt);
        models.set(agentId, begin(chunk, 'model', { startedAt: Math.min(from, at), firstAt: at }));
        return;
      }
      case 'step_end': {
        const { usage, interrupted } = chunk;
        end(models.get(agentId), at, {
          ...(usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens }),
          ...(interrupted !== undefined && {
            state: interrupted === 'failure' ? ('failed' as const) : ('cut' as const),
          }),
        });
        freeAt.set(agentId, at);
        return;
      }
      case 'checkpoint_created': {
        const model = models.get(agentId);
        if (model !== undefined) model.checkpointId = chunk.checkpointId;
        return;
      }
      case 'step_discarded': {
        const from = Math.max(freeAt.get(agentId) ?? 0, resumedAt);
        begin(chunk, 'model', { startedAt: Math.min(from, at), endedAt: at, state: 'lost' });
        freeAt.set(agentId, at);
        return;
      }
      case 'tool_start':
        call(chunk, chunk.providerExecuted === true ? 'tool' : 'wait');
        return;
      case 'tool_approval_request':
        call(chunk, 'wait');
        return;
      case 'tool_approval_response': {
        const { approved, by } = chunk;
        const asked = calls.get(chunk.toolCallId);
        end(asked, at, {
          state: approved ? 'done' : 'denied',
          ...(by !== undefined && { by }),
        });
        if (approved && asked !== undefined) call(chunk, 'tool');
        else freeAt.set(agentId, at);
        return;
      }
      case 'subagent_start': {
        const { callId: toolCallId, subAgentType: name } = chunk;
        const known = calls.get(toolCallId);
        if (known === undefined) calls.set(toolCallId, begin(chunk, 'agent', { toolCallId, name }));
        else Object.assign(known, { kind: 'agent', name });
        freeAt.set(chunk.subSessionId, at);
        return;
      }
      case 'subagent_end': {
        const { cause, subSessionId, subAgentType } = chunk;
        if (cause === undefined) return;
        const { error } = chunk.result as { error: string };
        const speaker = { agentId: subSessionId, agentType: subAgentType, step: 1, timestamp: at };
        fail(speaker, error, cause);
        return;
      }
      case 'tool_input_error':
      case 'tool_output_error':
      case 'tool_end': {
        const isFailed = chunk.type !== 'tool_end' || chunk.error !== undefined;
        end(calls.get(chunk.toolCallId), at, { state: isFailed ? 'failed' : 'done' });
        freeAt.set(agentId, at);
        return;
      }
      case 'run_resumed':
        resumedAt = at;
        return;
      default:
    }
  }

  return {
    add: ({ message }) => {
      if (hasEnded || SKIPPED.has(message.type)) return;
      if (message.type === 'run_resumed' && message.runId === runId && !hasBegun) {
        hasBegun = true;
        spans = [];
        freeAt.clear();
        models.clear();
        calls.clear();
      }
      if (!hasBegun) return;
      if (message.type === 'stream_end') {
        for (const span of spans) end(span, message.timestamp, { state: 'cut' });
        hasEnded = true;
      } else if ('agentId' in message) take(message);
    },
    spans: () => [...spans].sort((a, b) => a.startedAt - b.startedAt),
    hasEnded: () => hasEnded,
  };
}
