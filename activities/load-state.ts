import { createPatch } from 'rfc6902';
import type { z } from 'zod';
import { parseState } from '../agents/agent-state.js';
import type { JSONPatchOperation } from '../protocol/chunk.js';
import { StaleStateError } from '../protocol/errors.js';
import type { StateRead } from '../store/contract/staging.js';
import type { Store } from '../store/contract/store.js';

export interface LoadedState {
  /** Deeply frozen. */
  state: unknown;
  /** What the schema adds to the stored state: at first its defaults, later those of a newer version. */
  added: JSONPatchOperation[];
}

/**
 * The agent's own state at the beginning of a step: with the changes that earlier calls asked for, and
 * with the schema's defaults, so that tools that run in parallel change the same state.
 *
 * @param read the stored state, if it was read before
 * @throws StateError if what is stored does not fit the schema
 */
export async function loadState(
  { staging, documents }: Pick<Store, 'staging' | 'documents'>,
  schema: z.ZodType,
  sessionId: string,
  read?: StateRead,
): Promise<LoadedState> {
  for (let known = read; ; known = undefined) {
    const { customState: stored, version } = await staging.promoteSettled(sessionId, known);
    const state = parseState(schema, stored);
    const added = createPatch(stored, state) as JSONPatchOperation[];
    if (added.length === 0) return { state, added };
    try {
      await documents.save(sessionId, {
        customState: state as Record<string, unknown>,
        version,
      });
      return { state, added };
    } catch (error) {
      // Another writer saved the state in between: start from that one.
      if (!(error instanceof StaleStateError)) throw error;
    }
  }
}
