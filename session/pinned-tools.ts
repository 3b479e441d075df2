import { Json, type Only, type Stored } from './input.js';
import type { Session } from './tree.js';
import { isActive } from './writers.js';

export interface PinTools {
  sessionId: string;
  runId: string;
  /** At most `LIMITS.mcpToolsBytes` as JSON. */
  tools?: unknown;
}

/** `none`: no tools were given, now or before. `superseded`: the run is not active. */
export type PinToolsReply = { kind: 'pinned'; tools: Json<unknown> } | Only<'none' | 'superseded'>;

/** Keeps the tools that servers offered to a run while the run is active. The first list counts. */
export function pinTools(session: Session, { runId, tools }: Stored<PinTools>): PinToolsReply {
  if (!isActive(session, runId)) return { kind: 'superseded' };
  const pinned = session.writers.get('tools');
  if (pinned !== undefined) return { kind: 'pinned', tools: new Json(pinned) };
  if (tools === undefined) return { kind: 'none' };
  session.writers.set('tools', tools);
  return { kind: 'pinned', tools: new Json(tools) };
}
