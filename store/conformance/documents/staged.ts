import type { JSONPatchOperation } from '../../../protocol/chunk.js';
import type { PromotedState } from '../../contract/documents.js';
import type { Case } from '../suite.js';

/** An operation that sets a value. */
export function set(path: string, value: unknown): { op: 'add'; path: string; value: unknown } {
  return { op: 'add', path, value };
}

/** True if a change reached the prototype that all objects share. */
export function isPolluted(): boolean {
  return 'polluted' in {} || 'polluted' in (Reflect.get({}, 'toString') as object);
}

/** Changes of one step, s1. */
export interface Staging {
  stage: (toolCallId: string, ...patches: JSONPatchOperation[]) => Promise<void>;
  promote: () => Promise<PromotedState>;
  state: () => Promise<Record<string, unknown> | undefined>;
}

/** A session with an active run and this state. */
export async function begun(
  setup: Case,
  customState: Record<string, unknown> = {},
): Promise<Staging> {
  const { store, session } = setup;
  await session.newRun();
  await store.documents.save(session.id, { customState, version: 0 });
  return {
    stage: (toolCallId, ...patches) =>
      store.staging.stage(session.id, 's1', { toolCallId, patches }),
    promote: () => store.staging.promote(session.id, 's1'),
    state: async () => (await session.load())?.customState,
  };
}
