import { performCallEvent } from './perform-call-event.js';
import { performDocumentEvent } from './perform-document-event.js';
import { performRunEvent } from './perform-run-event.js';
import { performStreamEvent } from './perform-stream-event.js';
import { createScene } from './scene.js';
import type { SessionEvent } from './session-event.js';
import type { Knowledge, Perform } from './session-knowledge.js';

/** What an event does to a store. Pure: every store is asked the same. */
export function performEvent(event: SessionEvent, known: Knowledge): Perform {
  const scene = createScene(known);
  switch (event.do) {
    case 'start':
    case 'finish':
    case 'decide':
    case 'answer':
    case 'expire':
    case 'extend':
      return performCallEvent(event, scene);
    case 'open writer':
    case 'close writer':
    case 'write':
    case 'mark':
    case 'truncate':
      return performStreamEvent(event, scene);
    case 'save':
    case 'stage':
    case 'promote':
    case 'drop staged':
    case 'snapshot':
    case 'delete':
      return performDocumentEvent(event, scene);
    default:
      return performRunEvent(event, scene);
  }
}
