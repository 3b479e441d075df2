import { cjson, formatInt, redis } from './host.js';
import { ownChunk, type Speaker } from './chunks.js';
import { jsonOf, writerOf } from './entries.js';
import { list, withField } from './json.js';
import { sequenceOf, write, type Log } from './log.js';
import { isNoted, PAGE } from './attempts.js';
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
  const writer = `t:${id}`;
  const noted = redis.call('HGET', session.writers, `e:${writer}`);
  if (noted === false || !isNoted(session, writer)) return searchLog(session, writer, kind);
  const events: CallEvent[] = [];
  for (const note of noted.split(' ')) {
    if (!note.startsWith(kind)) continue;
    const sequence = note.slice(1);
    const entry = redis.call('XRANGE', session.stream, `${sequence}-0`, `${sequence}-0`)[0];
    if (entry !== undefined) events.push({ sequence, json: jsonOf(entry[1]) });
  }
  return events;
}

/** For attempts of release 0.2.0, whose appends note nothing. */
function searchLog(session: Session, writer: string, kind: 'c' | 'p'): CallEvent[] {
  const events: CallEvent[] = [];
  const names = [`f:${writer}`, `b:${writer}`];
  const [first = false, batch = false] = redis.call('HMGET', session.writers, ...names);
  if (first === false || batch === '0') return events;
  const type = kind === 'c' ? 'custom' : 'state_patch';
  let after = `${first}-0`;
  let isMore = true;
  while (isMore) {
    const page = redis.call('XRANGE', session.stream, `(${after}`, '+', 'COUNT', formatInt(PAGE));
    for (const [entryId, entry] of page) {
      after = entryId;
      const json = jsonOf(entry);
      if (writerOf(entry) === writer && json.includes(`"${type}"`) && matches(json, type)) {
        events.push({ sequence: formatInt(sequenceOf(entryId)), json });
      }
    }
    isMore = page.length === PAGE;
  }
  return events;
}

function matches(json: string, type: string): boolean {
  const chunk = cjson.decode(json) as { type: string; transient?: boolean };
  return chunk.type === type && chunk.transient !== true;
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
