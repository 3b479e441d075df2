import type { ChunkOf, ChunkType } from '../../protocol/chunk.js';
import type { Writer } from '../contract/log.js';
import { toJson } from './json.js';
import { write } from './log.js';
import type { MemorySession } from './session.js';

/** In whose name the store speaks: the base fields of the chunks that it writes by itself. */
export interface Speaker {
  agentId: string;
  agentType: string;
  step: number;
  now: number;
}

export function speakerOf(writer: Writer, now: number): Speaker {
  const { sessionId, agentId = sessionId, agentType, step } = writer;
  return { agentId, agentType, step, now };
}

type OwnFields<T extends ChunkType> = Omit<ChunkOf<T>, 'type' | keyof BaseFields>;
type BaseFields = Pick<ChunkOf<'text_delta'>, 'agentId' | 'agentType' | 'timestamp' | 'step'>;

/** Writes a chunk of the store's own. */
export function writeOwn<T extends ChunkType>(
  session: MemorySession,
  { agentId, agentType, step, now }: Speaker,
  type: T,
  fields: OwnFields<T>,
): void {
  write(
    session.log,
    '',
    toJson({ ...fields, type, agentId, agentType, step, timestamp: now } as never),
  );
}
