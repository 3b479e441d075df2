import type { StreamChunk } from '../../protocol/chunk.js';
import { FINISH_TOOL_NAME } from '../../protocol/ids.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** What a sub-agent does, by the call of the conversation that it carries out. */
export type SubAgentEvent = { callId: string } & (
  | { kind: 'text'; delta: string }
  | { kind: 'tool'; toolCallId: string; toolName: string; state: 'running' | 'done' | 'failed' }
  /** A step begins; what a lost attempt wrote goes back to here. */
  | { kind: 'step' }
  | { kind: 'discarded' }
);

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
  switch (chunk.type) {
    case 'text_delta':
      return { callId, kind: 'text', delta: chunk.delta };
    case 'step_start':
      return { callId, kind: 'step' };
    case 'step_discarded':
      return { callId, kind: 'discarded' };
    case 'tool_start':
    case 'tool_end': {
      const { toolCallId, toolName } = chunk;
      if (toolName === FINISH_TOOL_NAME) return undefined;
      const ended = 'error' in chunk && chunk.error !== undefined ? 'failed' : 'done';
      const state = chunk.type === 'tool_start' ? 'running' : ended;
      return { callId, kind: 'tool', toolCallId, toolName, state };
    }
    default:
      return undefined;
  }
}
