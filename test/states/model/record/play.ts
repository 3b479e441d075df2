import { childPartOf } from '../../../../protocol/ids.js';
import { settleCall } from '../../../../session/answers.js';
import { begin, beginQueued } from '../../../../session/begin.js';
import { startCall } from '../../../../session/calls.js';
import { beginChild } from '../../../../session/children.js';
import { end } from '../../../../session/finish.js';
import { resumeRun } from '../../../../session/rerun.js';
import { claim, commit, discard } from '../../../../session/steps.js';
import { stop } from '../../../../session/stop.js';
import type { Session, Tree } from '../../../../session/tree.js';
import { takeOver } from '../../../../session/writers.js';
import { decideAppend } from '../../../../store/memory/append.js';
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

/** Runs the script APPEND of store/redis/atomic. */
function append(data: Data, sessionId: string, args: readonly string[]): Outcome {
  const part = childPartOf(sessionId);
  const live = fieldsOf(data, part, 'record')?.get('live') ?? '';
  const [owner = '', batch = '', notes = ''] = ['t', 'b', 'e'].map((kind) =>
    fieldsOf(data, part, 'writers')?.get(`${kind}:${args[1] ?? ''}`),
  );
  const { reply, writes, sequence, logBytes } = decideAppend(
    part,
    { ...data, live, owner, batch, notes },
    args,
  );
  return { reply, writes: writes.length === 0 ? [] : [...writes, ['count', sequence, logBytes]] };
}

export type Reply = { kind: string } & Record<string, unknown>;

const APPENDED = ['', 'appended', 'fenced', 'superseded', 'closed', 'rewound', 'newer'];

/** Names the fields of a reply; `append` replies by position. */
export function toReply(reply: unknown): Reply {
  if (!Array.isArray(reply)) return reply as Reply;
  const [code, , stopped] = reply as [number, number?, number?];
  return { kind: APPENDED[code] ?? '', ...(stopped === 1 && { stop: true }) };
}
