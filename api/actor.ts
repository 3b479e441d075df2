import type { Request } from 'express';
import type { Actor } from '../protocol/actor.js';
import { HEADERS } from '../protocol/headers.js';
import { readVia } from '../protocol/via.js';
import type { Identity } from './identity.js';

/** Who acts by a request, and which way, for the audit trail. */
export function toActor({ request, caller }: { request: Request; caller: Identity }): Actor & {
  by: string;
} {
  return { by: caller.userId, roles: caller.roles, via: readVia(request.get(HEADERS.via)) };
}
