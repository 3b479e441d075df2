import type { Scene } from './scene.js';
import type { EventOf } from './session-event.js';
import type { Perform } from './session-knowledge.js';

type DocumentEvent = EventOf<'save' | 'stage' | 'promote' | 'drop staged' | 'snapshot' | 'delete'>;

export function performDocumentEvent(event: DocumentEvent, { known, id }: Scene): Perform {
  const { sessionId, record } = known;
  switch (event.do) {
    case 'save': {
      const version = (record?.stateVersion ?? 0) + Number(event.isAhead);
      return ({ store }) => store.documents.save(sessionId, { customState: { by: id }, version });
    }
    case 'stage':
      return ({ store }) =>
        store.staging.stage(sessionId, `s${String(event.step)}`, {
          toolCallId: `c${String(event.call)}`,
          patches: [{ op: 'add', path: `/k${String(event.call)}`, value: id }],
        });
    case 'promote':
      return ({ store }) => store.staging.promote(sessionId, `s${String(event.step)}`);
    case 'drop staged':
      return async ({ store }) =>
        (await store.staging.discard(sessionId, `s${String(event.step)}`)).sort();
    case 'snapshot':
      return ({ store }) => store.sessions.noteActiveSnapshot(sessionId, record?.turn ?? 1);
    case 'delete':
      return ({ store }) => store.sessions.erase(sessionId);
  }
}
