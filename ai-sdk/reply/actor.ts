import type { Actor } from '../../protocol/actor.js';
import { HEADERS } from '../../protocol/headers.js';
import { readVia } from '../../protocol/via.js';
import type { HandleChatStreamParams } from './types.js';

/** Who sends a request, besides the name, and which way, for the audit trail. */
export function toActor({ roles, personId, request }: HandleChatStreamParams): Omit<Actor, 'by'> {
  return { roles, personId, via: readVia(request?.headers.get(HEADERS.via)) };
}
