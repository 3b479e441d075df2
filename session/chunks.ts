import type { RunMode } from '../protocol/run.js';
import type { Entry } from './fields.js';
import type { Session } from './tree.js';

/** Base fields of a chunk that the store itself writes. */
export interface ChunkAuthor {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
}

export function authorOf(
  session: Session,
  now: number,
  step = session.existing.run.committed,
): ChunkAuthor {
  return { agentId: session.id, agentType: session.existing.agent ?? '', step, timestamp: now };
}

/** Adds a chunk of the store itself to the log. @param raw texts of JSON that are never decoded */
export function writeChunk(
  session: Session,
  author: ChunkAuthor,
  type: string,
  fields: Record<string, unknown>,
  raw: Record<string, string | undefined> = {},
): void {
  session.tree.log.add(withRaw(JSON.stringify({ type, ...fields, ...author }), raw));
}

/** Tells viewers that a run goes on from the newest checkpoint. */
export function writeResumed(
  session: Session,
  author: ChunkAuthor,
  { runId, step, mode }: { runId: string; step: number; mode: RunMode },
): void {
  const fromCheckpointId = session.existing.checkpoint?.id ?? null;
  const fields = { runId, fromCheckpointId, fromStepCount: step, mode };
  writeChunk(session, author, 'run_resumed', fields);
}

/** Adds a control message; these are counted separately from chunks. */
export function writeControl(session: Session, message: string): void {
  const { conversation } = session.tree;
  conversation.existing.sizes.controls += 1;
  session.tree.log.add(message);
}

/** Adds fields, whose values are JSON already, to an object's JSON. */
export function withRaw(object: string, raw: Record<string, string | undefined>): string {
  const fields = Object.entries(raw).flatMap(([name, json]) =>
    json === undefined ? [] : `,${JSON.stringify(name)}:${json}`,
  );
  const all = fields.join('');
  return object === '{}' ? `{${all.slice(1)}}` : `${object.slice(0, -1)}${all}}`;
}

export function countControls(entries: readonly Entry[]): number {
  return entries.filter(
    ([, writer, message]) =>
      writer === '' && /^\{"type":"stream_(end|status|truncated)"/.test(message),
  ).length;
}
