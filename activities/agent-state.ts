import { createPatch } from 'rfc6902';
import type { z } from 'zod';
import { parseState } from '../agents/agent-state.js';
import type { JsonPatchOperation } from '../protocol/chunk.js';
import { StaleStateError } from '../protocol/errors.js';
import type { Store } from '../stores/contract/store.js';

export interface TakenState {
  /** Deeply frozen. */
  state: unknown;
  /** What the schema adds to what is stored: at first its defaults, later those of a newer version. */
  added: JsonPatchOperation[];
}

/**
 * The agent's own state at the beginning of a step: with what the calls before wanted changed, and
 * with the schema's defaults, so that tools that run side by side change the same thing.
 *
 * @throws StateError if what is stored does not fit the schema
 */
export async function takeInState(
  { staging, documents }: Pick<Store, 'staging' | 'documents'>,
  schema: z.ZodType,
  sessionId: string,
): Promise<TakenState> {
  for (;;) {
    const { customState: stored, version } = await staging.promoteSettled(sessionId);
    const state = parseState(schema, stored);
    const added = createPatch(stored, state) as JsonPatchOperation[];
    if (added.length === 0) return { state, added };
    try {
      await documents.save(sessionId, {
        customState: state as Record<string, unknown>,
        version,
      });
      return { state, added };
    } catch (error) {
      // Somebody saved the state in between; theirs is the one to start from.
      if (!(error instanceof StaleStateError)) throw error;
    }
  }
}
