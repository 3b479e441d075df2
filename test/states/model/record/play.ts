import { childPartOf } from '../../../../protocol/ids.js';
import { settleCall } from '../../../../session/answers.js';
import { begin, beginQueued } from '../../../../session/begin.js';
import { startCall } from '../../../../session/calls.js';
import { beginChild } from '../../../../session/children.js';
import { end } from '../../../../session/end.js';
import { LAYOUT } from '../../../../session/record.js';
import { resumeRun } from '../../../../session/rerun.js';
import { claim, commit, discard } from '../../../../session/steps.js';
import { stop } from '../../../../session/stop.js';
import { byteLength } from '../../../../session/fields.js';
import type { Session, Tree } from '../../../../session/tree.js';
import { takeOver } from '../../../../session/writers.js';
import { fieldsOf, treeOf, type Data, type Stored } from './data.js';

export const CHANGES = {
  begin,
  beginChild,
  beginQueued,
  claim,
  commit,
  discard,
  end,
  resumeRun,
  settleCall,
  startCall,
  stop,
  takeOver,
};
export type ChangeName = keyof typeof CHANGES;
export type InputOf<Name extends ChangeName> = Parameters<(typeof CHANGES)[Name]>[1];

/** A change with its input or an append with its arguments, as plain values that fit any store. */
export type Sent = { sessionId: string } & (
  { what: ChangeName; input: object } | { what: 'append'; args: readonly string[] }
);

/** The decision about a request, with all writes; absent if there are none. */
export interface Outcome {
  reply: unknown;
  writes: readonly Stored[];
}

/** Decides about a request; tests substitute wrong decisions. */
export type Play = (data: Data, sent: Sent, now: number) => Outcome;

export type Decide = (session: Session, input: object) => unknown;

export const play: Play = (data, sent, now) =>
  sent.what === 'append'
    ? append(data, sent.sessionId, sent.args)
    : decideOn(data, sent, now, CHANGES[sent.what] as Decide);

/** Caches the tree of a request that wrote nothing, for the next request to the same record. */
let unchanged: { data: Data; now: number; tree: Tree } | undefined;

export function decideOn(
  data: Data,
  { sessionId, input }: { sessionId: string; input: object },
  now: number,
  decide: Decide,
): Outcome {
  const isRead = unchanged?.data === data && unchanged.now === now;
  const tree = isRead && unchanged !== undefined ? unchanged.tree : treeOf(data, now);
  unchanged = undefined;
  const reply = decide(tree.session(childPartOf(sessionId)), input);
  const writes = tree.writes();
  if (writes.length === 0) unchanged = { data, now, tree };
  const { sequence, bytes } = tree.log;
  return { reply, writes: writes.length === 0 ? [] : [...writes, ['count', sequence, bytes]] };
}

/** Runs the script APPEND of store/redis/backend. */
function append(data: Data, sessionId: string, args: readonly string[]): Outcome {
  const [run, writer = '', token, batch, now = '', known, notes = '', ...messages] = args;
  const part = childPartOf(sessionId);
  const live = fieldsOf(data, part, 'record')?.get('live') ?? '0 - 0 0';
  const [layout, active, stopped, paused] = live.split(' ');
  const writers = fieldsOf(data, part, 'writers');
  const [last = '-1', stored] = writers?.get(`b:${writer}`)?.split(' ') ?? [];
  const isOwner = writers?.get(`t:${writer}`) === token;
  const { sequence, logBytes } = data;
  const reply = (...code: number[]): Outcome => ({ reply: code, writes: [] });
  if (isOwner && Number(last) >= Number(batch)) return reply(1, Number(stored), Number(stopped));
  if (Number(layout) > LAYOUT) return reply(6);
  if (sequence < Number(known)) return reply(5);
  if (run !== '*' && run !== active) return reply(3);
  if (!isOwner) return reply(2);
  if (Number(last) !== Number(batch) - 1) return reply(5);
  if (run === '*' && paused === '1') return reply(4);
  const newest = sequence + messages.length;
  const writes: Stored[] = messages.map((message, at) => [
    'add',
    sequence + 1 + at,
    writer,
    message,
  ]);
  const bytes = messages.reduce((sum, message) => sum + byteLength(message), 0);
  writes.push(['count', newest, logBytes + bytes], ['set', 'record', '', 'appended', now]);
  writes.push(['set', 'writers', part, `b:${writer}`, `${String(batch)} ${String(newest)}`]);
  if (notes !== '') {
    const noted = notes
      .split(' ')
      .map((note) => note.slice(0, 1) + String(sequence + 1 + Number(note.slice(1))));
    const earlier = writers?.get(`e:${writer}`);
    const all = [...(earlier ? [earlier] : []), ...noted].join(' ');
    writes.push(['set', 'writers', part, `e:${writer}`, all]);
  }
  return { reply: [1, newest, Number(stopped)], writes };
}

export type Reply = { kind: string } & Record<string, unknown>;

const APPENDED = ['', 'appended', 'fenced', 'superseded', 'closed', 'rewound', 'newer'];

/** Names the fields of a reply; `append` replies by position. */
export function toReply(reply: unknown): Reply {
  if (!Array.isArray(reply)) return reply as Reply;
  const [code, , stopped] = reply as [number, number?, number?];
  return { kind: APPENDED[code] ?? '', ...(stopped === 1 && { stop: true }) };
}
