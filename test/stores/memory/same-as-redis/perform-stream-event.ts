import { NO_RUN, type Writer } from '../../../../stores/contract/log.js';
import type { Scene } from './scene.js';
import type { EventOf } from './session-event.js';
import type { Perform } from './session-knowledge.js';

type StreamEvent = EventOf<'open writer' | 'close writer' | 'write' | 'mark' | 'truncate'>;

export function performStreamEvent(event: StreamEvent, scene: Scene): Perform {
  const { known, now, id, text } = scene;
  const { sessionId, record } = known;
  switch (event.do) {
    case 'open writer':
      return ({ streamManager }) => streamManager.openWriter(freeWriter(scene, event), 'n', now);
    case 'close writer':
      return ({ streamManager }) => streamManager.closeWriter(freeWriter(scene, event));
    case 'write':
      return ({ streamManager }) =>
        streamManager.append(freeWriter(scene, event), event.batch, [text(id)]);
    case 'mark':
      return ({ streamManager }) =>
        streamManager.mark(sessionId, { status: event.status, error: 'it broke' }, now);
    case 'truncate': {
      const minSequence = event.isHalf ? Math.floor((record?.sequence ?? 0) / 2) : 0;
      const options = { minSequence, ...(event.byAgent && { agentId: sessionId }) };
      return ({ streamManager }) => streamManager.truncate(sessionId, event.step, options, now);
    }
  }
}

/** A writer that belongs to no run. */
function freeWriter({ writer }: Scene, { name, token }: { name: number; token: number }): Writer {
  const free = { runId: NO_RUN, name: `w:${String(name)}`, agentId: 'somebody', step: 2 };
  return { ...writer(token), ...free };
}
