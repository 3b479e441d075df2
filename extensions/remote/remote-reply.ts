import type { StreamChunk } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';

/** Chunks of a remote agent that viewers see. Its steps, pauses and checkpoints stay with its own server. */
const SHOWN: ReadonlySet<string> = new Set([
  'text_delta',
  'thinking',
  'tool_arg_stream_start',
  'tool_arg_stream_delta',
  'tool_arg_stream_end',
  'tool_start',
  'tool_end',
  'tool_input_error',
  'tool_output_preliminary',
  'tool_output_error',
  'custom',
  'source_url',
  'source_document',
  'file',
] satisfies StreamChunk['type'][]);

export interface RemotePlace {
  toolCallId: string;
  step: number;
  /** The remote session, and the agent that was asked. */
  subSessionId: string;
  subAgentType: string;
}

/**
 * A remote chunk as the parent's stream carries it: in the parent's step, with call ids and agent
 * names that cannot collide with those of the parent. Undefined if viewers must not see it. Pure.
 */
function toParentChunk(chunk: StreamChunk, place: RemotePlace): StreamChunk | undefined {
  if (!SHOWN.has(chunk.type)) return undefined;
  const { toolCallId, step } = place;
  const shown = { ...chunk, ...authorOf(chunk, place), step };
  if (!('toolCallId' in shown)) return shown;
  const own = `${toolCallId}/${String(shown.toolCallId)}`.slice(-LIMITS.idChars);
  return { ...shown, toolCallId: own };
}

/** The other server names the author; only the called agent and its sub-agents are accepted. */
function authorOf(
  { agentId, agentType }: StreamChunk,
  { subSessionId, subAgentType }: RemotePlace,
): Pick<StreamChunk, 'agentId' | 'agentType'> {
  if (agentId === subSessionId) return { agentId, agentType: subAgentType };
  const isBelow = agentId.startsWith(`${subSessionId}.`);
  return {
    agentId: (isBelow ? agentId : `${subSessionId}.${agentId}`).slice(0, LIMITS.idChars),
    agentType: `${subAgentType}/${agentType}`.slice(0, LIMITS.idChars),
  };
}

/** Another server sent more than one call accepts; the message names the limit. */
export class RemoteExcess extends Error {
  override readonly name = 'RemoteExcess';
}

/** What one call accepts from a remote run, over all its connections. */
export class RemoteReply {
  readonly #place: RemotePlace;
  #events = 0;
  #bytes = 0;
  #text = '';
  #isStale = false;

  constructor(place: RemotePlace) {
    this.#place = place;
  }

  /** The text of the run's newest step, which is its answer. */
  get text(): string {
    return this.#text;
  }

  /** @throws RemoteExcess */
  countEvent(): void {
    this.#events += 1;
    if (this.#events > LIMITS.remoteAgentEvents) {
      throw new RemoteExcess(`more than ${String(LIMITS.remoteAgentEvents)} events`);
    }
  }

  /** Returns the chunk for the parent's stream; undefined if viewers must not see it. @throws RemoteExcess */
  accept(chunk: StreamChunk): StreamChunk | undefined {
    if (chunk.agentId === this.#place.subSessionId) this.#read(chunk);
    const shown = toParentChunk(chunk, this.#place);
    if (shown === undefined) return undefined;
    this.#bytes += Buffer.byteLength(JSON.stringify(shown));
    if (this.#bytes > LIMITS.remoteAgentBytes) throw new RemoteExcess('more than 16 MB');
    return shown;
  }

  #read(chunk: StreamChunk): void {
    if (chunk.type === 'step_start') this.#isStale = true;
    if (chunk.type === 'step_discarded') this.#text = '';
    if (chunk.type !== 'text_delta') return;
    if (this.#isStale) this.#text = '';
    this.#isStale = false;
    this.#text += chunk.delta;
    if (this.#text.length > LIMITS.answerBytes) throw new RemoteExcess('a text of more than 1 MB');
  }
}
