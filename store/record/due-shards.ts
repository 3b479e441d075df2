/** Shards of a list of due sessions: each has its own lease, so that all processes share the work. */
export const DUE_SHARDS = 20;

/** The shard of a session; FNV-1a. Pure. */
export function dueShardOf(sessionId: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < sessionId.length; at += 1) {
    hash = Math.imul(hash ^ sessionId.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash % DUE_SHARDS;
}
