import { cjson, formatInt, redis } from './host.js';
import { ownChunk, type Speaker } from './chunks.js';
import { list, withField } from './json.js';
import { sequenceOf, write, type Log } from './log.js';
import { isNoted, PAGE } from './attempts.js';
import type { Session } from './session.js';

/**
 * What the newest attempt of a call said beside its result. Appends note the sequences that matter
 * (`e:` of the writer, `c<sequence>` for events that history keeps, `p<sequence>` for changes of the
 * state), so that nobody searches the log for them.
 */
interface Said {
  sequence: string;
  json: string;
}

function saidByCall(session: Session, id: string, kind: 'c' | 'p'): Said[] {
  const writer = `t:${id}`;
  const noted = redis.call('HGET', session.writers, `e:${writer}`);
  if (noted === false || !isNoted(session, writer)) return searchLog(session, writer, kind);
  const said: Said[] = [];
  for (const note of noted.split(' ')) {
    if (!note.startsWith(kind)) continue;
    const sequence = note.slice(1);
    const entry = redis.call('XRANGE', session.stream, `${sequence}-0`, `${sequence}-0`)[0];
    if (entry !== undefined) said.push({ sequence, json: entry[1][3] as string });
  }
  return said;
}

/** For attempts of release 0.2.0, whose appends note nothing. */
function searchLog(session: Session, writer: string, kind: 'c' | 'p'): Said[] {
  const said: Said[] = [];
  const names = [`f:${writer}`, `b:${writer}`];
  const [first = false, batch = false] = redis.call('HMGET', session.writers, ...names);
  if (first === false || batch === '0') return said;
  const type = kind === 'c' ? 'custom' : 'state_patch';
  let after = `${first}-0`;
  let isMore = true;
  while (isMore) {
    const page = redis.call('XRANGE', session.stream, `(${after}`, '+', 'COUNT', PAGE);
    for (const [entryId, entry] of page) {
      after = entryId;
      const json = entry[3] as string;
      if (entry[1] === writer && json.includes(`"${type}"`) && matches(json, type)) {
        said.push({ sequence: formatInt(sequenceOf(entryId)), json });
      }
    }
    isMore = page.length === PAGE;
  }
  return said;
}

function matches(json: string, type: string): boolean {
  const chunk = cjson.decode(json) as { type: string; transient?: boolean };
  return chunk.type === type && chunk.transient !== true;
}

/** Takes back what a call showed of changes that will never be made, the newest first. */
export function undoPatches(session: Session, log: Log, speaker: Speaker, id: string): void {
  const said = saidByCall(session, id, 'p');
  for (let at = said.length - 1; at >= 0; at -= 1) {
    const { undo } = cjson.decode((said[at] as Said).json) as { undo?: string };
    if (undo !== undefined) write(log, ownChunk(speaker, 'state_patch', `"patches":${undo}`));
  }
}

/** A row with what its call said beside its result: history shows that, too. */
export function withEvents(session: Session, id: string, row: string): string {
  const events: string[] = [];
  for (const { sequence, json } of saidByCall(session, id, 'c')) {
    events.push(`{"sequence":${sequence},"chunk":${json}}`);
  }
  return events.length === 0 ? row : withField(row, 'events', list(events));
}
