import { decode, encode } from '../../../../stores/memory/keyspace/cjson.js';
import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import { runOn } from '../../../../stores/transitions/lib/host.js';
import { run } from '../../../../stores/transitions/library.js';
import type { Call } from '../requests/request.js';

/** Runs a transition on a keyspace; tests put a wrong one in its place. */
export type Play = (keyspace: Pick<Keyspace, 'call'>, call: Call) => unknown;

export const play: Play = ({ call }, { keys, args }) => {
  for (;;) {
    const host = { call, encode, decode, byteLength: (text: string) => Buffer.byteLength(text) };
    const reply = runOn(host, () => run(keys, args));
    if (reply !== '{"kind":"more"}') return reply;
  }
};

export type Reply = { kind: string } & Record<string, unknown>;

const APPENDED = ['', 'appended', 'fenced', 'superseded', 'closed', 'rewound'];

/** `append` replies by position. */
export function toReply(reply: unknown): Reply {
  if (typeof reply === 'string') return JSON.parse(reply) as Reply;
  const [code, , stop] = reply as [number, number?, number?];
  return { kind: APPENDED[code] ?? '', ...(stop === 1 && { stop: true }) };
}
