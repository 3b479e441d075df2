import { byteLength, type Write } from '../../session/fields.js';
import { LAYOUT } from '../../session/record.js';

/** The stored texts on which an append depends; '' if absent. */
export interface Found {
  live: string;
  /** Token of the writer's owner, its newest batch, and its notes. */
  owner: string;
  batch: string;
  notes: string;
  sequence: number;
  logBytes: number;
}

/** Sequence and size of the log count only if something is written. */
export interface Appended extends Pick<Found, 'sequence' | 'logBytes'> {
  reply: number[];
  writes: readonly Write[];
}

/** Decides an append as the script APPEND does. Pure. @param part of the writer's session */
export function decideAppend(part: string, found: Found, args: readonly string[]): Appended {
  const [run, writer = '', token, batch, now = '', known, notes = '', ...messages] = args;
  const [layout, active, stop, paused] = (found.live || '0 - 0 0').split(' ');
  const [last, stored] = (found.batch || '-1 0').split(' ');
  const { sequence: before } = found;
  const reply = (...code: number[]): Appended => ({ ...found, reply: code, writes: [] });
  if (found.owner === token && Number(last) >= Number(batch))
    return reply(1, Number(stored), Number(stop));
  if (Number(layout) > LAYOUT) return reply(6);
  if (before < Number(known)) return reply(5);
  if (run !== '*' && active !== run) return reply(3);
  if (found.owner !== token) return reply(2);
  if (Number(last) !== Number(batch) - 1) return reply(5);
  if (run === '*' && paused === '1') return reply(4);
  const sequence = before + messages.length;
  const noted = notes.replace(/\d+/g, (place) => String(before + 1 + Number(place)));
  const allNotes = [found.notes, noted].filter((text) => text !== '').join(' ');
  return {
    reply: [1, sequence, Number(stop)],
    sequence,
    logBytes: messages.reduce((sum, message) => sum + byteLength(message), found.logBytes),
    writes: [
      ...messages.map((message, at) => ['add', before + 1 + at, writer, message] as const),
      ['set', 'record', '', 'appended', now],
      ['set', 'writers', part, `b:${writer}`, `${batch ?? ''} ${String(sequence)}`],
      ...(notes === '' ? [] : [['set', 'writers', part, `e:${writer}`, allNotes] as const]),
    ],
  };
}
