import { ANONYMOUS, buildSnapshot, type SnapshotDeps } from '../../ai-sdk/index.js';

/** Returns the snapshot of a session, by its stored id, as its owner gets it. */
export async function snapshotOf(
  deps: SnapshotDeps,
  storedId: string,
  more: { includePartialContent?: boolean } = {},
): ReturnType<typeof buildSnapshot> {
  const record = await deps.stateStore.sessions.read(storedId);
  const { owner: userId = ANONYMOUS, tenant: tenantId } = record ?? {};
  const sessionId = storedId.slice(storedId.indexOf('~') + 1);
  const caller = { userId, ...(tenantId !== undefined && { tenantId }) };
  return buildSnapshot(deps, { sessionId, caller, ...more });
}
