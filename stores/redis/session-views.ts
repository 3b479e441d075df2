import { childPartOf } from '../../protocol/ids.js';
import type { OpenCall } from '../contract/call-record.js';
import type { ReadMeter } from '../contract/log.js';
import type { SessionCalls, Sessions, SessionView } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { toOpenCall, toQueuedEntry, toRecord } from './stored-record.js';
import { createStoredRows, sizeOf } from './stored-rows.js';

interface Views {
  readView: Sessions['view'];
  readCalls: Sessions['withCalls'];
}

/** Reads of a session with its calls and those of its sub-agents, each made at one moment. */
export function createSessionViews({
  redis,
  reads: largeReads,
  keys,
  transitions,
  now,
}: RedisContext): Views {
  const stored = createStoredRows({ reads: largeReads, keys });

  /** @param callsOnly leaves rows and queue out */
  async function read(
    sessionId: string,
    callsOnly: boolean,
    { owner, meter }: { owner?: SessionOwner | undefined; meter?: ReadMeter | undefined },
  ): Promise<SessionView | undefined> {
    const isChild = childPartOf(sessionId) !== '';
    for (;;) {
      // Only a transition can read the sub-agents and check the owner at the same moment.
      const own = isChild || owner !== undefined ? undefined : await readOwn(sessionId, callsOnly);
      const found = own ?? (await readTree(sessionId, callsOnly, owner));
      const root = await stored.withOutput(sessionId, found.root);
      const record = toRecord(sessionId, root, now());
      if (record === undefined) return undefined;
      await meter?.take(sizeOf(found.queue));
      const range = { from: 0, to: found.rows, born: record.born };
      const rows = await stored.readPages(sessionId, range, meter);
      // It was rewound or erased meanwhile.
      if (rows === undefined) continue;
      return {
        record,
        rows,
        openCalls: await stored.withResults(sessionId, found.openCalls),
        queue: found.queue.map(toQueuedEntry),
      };
    }
  }

  /** Reads a session without sub-agents; undefined if it has some. */
  async function readOwn(sessionId: string, callsOnly: boolean): Promise<Stored | undefined> {
    const at = keys.session(sessionId);
    const replies = await callRedis(
      (callsOnly ? redis : largeReads).together((reads) => {
        reads.hgetall(at.root).lrange(at.order, 0, -1).hgetall(at.calls);
        if (!callsOnly) reads.llen(at.rows).lrange(at.queue, 0, -1);
      }),
    );
    const [root, order, calls, rows = 0, queue = []] = replies as [
      ...[Record<string, string>, string[], Record<string, string>],
      ...[number?, string[]?],
    ];
    if (order.some((id) => calls[`child:${id}`] !== undefined)) return undefined;
    return { root, rows, queue, openCalls: order.map((id) => toOpenCall(id, calls)) };
  }

  async function readTree(
    sessionId: string,
    callsOnly: boolean,
    owner?: SessionOwner,
  ): Promise<Stored> {
    const only = owner && { owner: owner.owner, tenant: owner.tenant ?? '' };
    const reply = await transitions.run('readView', sessionId, { callsOnly, owner: only });
    const [root, rows, queue, ...sessions] = reply;
    const openCalls = sessions.flatMap(([order, fields]) => {
      const calls = toFields(fields);
      return order.map((id) => toOpenCall(id, calls));
    });
    return { root: toFields(root), rows, queue, openCalls };
  }

  return {
    readView: (sessionId, meter) => read(sessionId, false, { meter }),
    readCalls: async (sessionId, owner) => {
      const view = await read(sessionId, true, { owner });
      return view && ({ record: view.record, openCalls: view.openCalls } satisfies SessionCalls);
    },
  };
}

interface Stored {
  root: Record<string, string>;
  /** How many there are. */
  rows: number;
  queue: string[];
  openCalls: OpenCall[];
}

function toFields(flat: readonly string[]): Record<string, string> {
  const fields: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) fields.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return Object.fromEntries(fields);
}
