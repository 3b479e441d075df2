import type { Request } from 'express';
import type { Actor } from '../protocol/actor.js';
import { HEADERS } from '../protocol/headers.js';
import { readVia } from '../protocol/via.js';
import type { Identity } from './identity.js';

/** Who acts by a request, and which way, for the audit trail. */
export function toActor({ request, caller }: { request: Request; caller: Identity }): Actor & {
  by: string;
} {
  const { userId: by, roles, personId } = caller;
  return { by, roles, personId, via: readVia(request.get(HEADERS.via)) };
}
