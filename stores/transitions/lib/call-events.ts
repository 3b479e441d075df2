import { cjson, redis } from './host.js';
import { ownChunk, type Speaker } from './chunks.js';
import { jsonOf } from './entries.js';
import { list, withField } from './json.js';
import { write, type Log } from './log.js';
import type { Session } from './session.js';

/**
 * An event that the newest attempt of a call emitted beside its result. Appends note the sequences
 * of such entries (field `e:` of the writer: `c<sequence>` for events that history keeps,
 * `p<sequence>` for changes of the state), so that the log need not be searched.
 */
interface CallEvent {
  sequence: string;
  json: string;
}

function eventsOf(session: Session, id: string, kind: 'c' | 'p'): CallEvent[] {
  const events: CallEvent[] = [];
  const noted = redis.call('HGET', session.writers, `e:t:${id}`);
  if (noted === false) return events;
  for (const note of noted.split(' ')) {
    if (!note.startsWith(kind)) continue;
    const sequence = note.slice(1);
    const entry = redis.call('XRANGE', session.stream, `${sequence}-0`, `${sequence}-0`)[0];
    if (entry !== undefined) events.push({ sequence, json: jsonOf(entry[1]) });
  }
  return events;
}

/** Reverts the state changes that a call announced but that will never be stored, newest first. */
export function undoPatches(session: Session, log: Log, speaker: Speaker, id: string): void {
  const patches = eventsOf(session, id, 'p');
  for (let at = patches.length - 1; at >= 0; at -= 1) {
    const { undo } = cjson.decode((patches[at] as CallEvent).json) as { undo?: string };
    if (undo !== undefined) write(log, ownChunk(speaker, 'state_patch', `"patches":${undo}`));
  }
}

/** Adds the events of a call to its row, since history shows them too. */
export function withEvents(session: Session, id: string, row: string): string {
  const events: string[] = [];
  for (const { sequence, json } of eventsOf(session, id, 'c')) {
    events.push(`{"sequence":${sequence},"chunk":${json}}`);
  }
  return events.length === 0 ? row : withField(row, 'events', list(events));
}
