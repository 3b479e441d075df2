import type { StreamChunk } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME, toShownSessionId } from '../../protocol/ids.js';
import type { SubAgentEvent } from '../../protocol/sub-agent-event.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** Chunks of sub-agents, which have sessions of their own, as transient parts: a message keeps the results only. */
export class SubAgentParts {
  /** The call of the conversation that a session carries out, also through agents between. */
  readonly #callOf: Map<string, string>;

  constructor(known: ReadonlyMap<string, string>) {
    this.#callOf = new Map(known);
  }

  add(chunk: StreamChunk): UIStreamPart[] {
    const callId = this.#callOf.get(chunk.agentId);
    if (chunk.type === 'subagent_start') {
      this.#callOf.set(chunk.subSessionId, callId ?? chunk.callId);
      return [];
    }
    const event = callId === undefined ? undefined : toEvent(chunk, callId);
    return event === undefined
      ? []
      : [{ type: 'data-subagent-progress', data: event, transient: true }];
  }
}

function toEvent(chunk: StreamChunk, callId: string): SubAgentEvent | undefined {
  const about = { callId, agentId: toShownSessionId(chunk.agentId), agent: chunk.agentType };
  switch (chunk.type) {
    case 'text_delta':
      return { ...about, kind: 'text', delta: chunk.delta };
    case 'step_start':
      return { ...about, kind: 'step' };
    case 'step_discarded':
      return { ...about, kind: 'discarded' };
    case 'tool_start':
    case 'tool_end': {
      const { toolCallId, toolName } = chunk;
      if (toolName === FINISH_TOOL_NAME) return undefined;
      const ended = 'error' in chunk && chunk.error !== undefined ? 'failed' : 'done';
      const state = chunk.type === 'tool_start' ? 'running' : ended;
      return { ...about, kind: 'tool', toolCallId, toolName, state };
    }
    default:
      return undefined;
  }
}
