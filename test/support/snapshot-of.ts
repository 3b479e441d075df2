import { ANONYMOUS, buildSnapshot, type SnapshotDeps } from '../../ai-sdk/index.js';

/** The snapshot of a session as its owner gets it. */
export async function snapshotOf(
  deps: SnapshotDeps,
  sessionId: string,
  more: { includePartialContent?: boolean } = {},
): ReturnType<typeof buildSnapshot> {
  const record = await deps.stateStore.sessions.read(sessionId);
  const { owner: userId = ANONYMOUS, tenant: tenantId } = record ?? {};
  const caller = { userId, ...(tenantId !== undefined && { tenantId }) };
  return buildSnapshot(deps, { sessionId, caller, ...more });
}
