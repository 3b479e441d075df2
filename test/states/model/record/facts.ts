import { isTerminal } from '../../../../protocol/run.js';
import type { SessionRecord } from '../../../../stores/contract/sessions.js';
import type { Keyspace } from '../../../../stores/memory/keyspace.js';
import { toRecord } from '../../../../stores/redis/stored-record.js';
import { RUNS, SESSION, type RunName } from '../plan.js';
import { keysOf } from '../requests/request.js';
import { textsByWriter } from './texts-by-writer.js';

/** What actors may have read of a record before they send a request to it. */
export interface Facts {
  /** Of the newest entry. */
  sequence: number;
  /** Undefined before the first message. */
  record: SessionRecord | undefined;
  sub: SessionRecord | undefined;
  /** How many messages were accepted. */
  accepted: number;
  /** Calls of the newest committed step of each agent. */
  calls: ReadonlyMap<string, CallFacts>;
  /** Clients' calls of earlier steps that had expired. */
  lapsed: readonly string[];
  /** Tokens of the writers that are open, by name. */
  owners: ReadonlyMap<string, number>;
  /** The text that a writer has appended and not committed. */
  textOf: (writer: string) => string;
}

export interface CallFacts {
  state: string;
  /** It has expired; a client's result is still taken. */
  isLate: boolean;
  hasDeadline: boolean;
}

export function factsOf(keyspace: Keyspace): Facts {
  const root = hashOf(keyspace, keysOf(SESSION).root);
  const subRoot = hashOf(keyspace, keysOf(RUNS.sub.sessionId).root);
  const sessions = [SESSION, ...(subRoot['run'] === undefined ? [] : [RUNS.sub.sessionId])];
  return {
    sequence: Number(root['seq'] ?? 0),
    record: toRecord(SESSION, root, 0),
    sub: toRecord(RUNS.sub.sessionId, subRoot, 0),
    accepted: keyspace.call('HLEN', keysOf(SESSION).messages) as number,
    calls: new Map(sessions.flatMap((sessionId) => callsIn(keyspace, sessionId))),
    lapsed: lapsedIn(keyspace),
    owners: new Map(sessions.flatMap((sessionId) => ownersIn(keyspace, sessionId))),
    textOf: (writer) => textsByWriter(keyspace).get(writer) ?? '',
  };
}

/** True while a run may still change the record: before it begins, while it is active or waits. */
export function isLive({ record, sub }: Facts, run: RunName): boolean {
  if (record === undefined || isTerminal(record.status)) return false;
  if (run === 'sub') return sub === undefined || !isTerminal(sub.status);
  return record.runId === RUNS[run].runId;
}

/** The record of a run, if it is its session's newest run. */
export function recordOf({ record, sub }: Facts, run: RunName): SessionRecord | undefined {
  const found = run === 'sub' ? sub : record;
  return found?.runId === RUNS[run].runId ? found : undefined;
}

function callsIn(keyspace: Keyspace, sessionId: string): [string, CallFacts][] {
  const { order, calls } = keysOf(sessionId);
  return (keyspace.call('LRANGE', order, 0, -1) as string[]).map((id) => {
    const fields = [`state:${id}`, `deadline:${id}`, `late:${id}`];
    const found = keyspace.call('HMGET', calls, ...fields) as (string | false)[];
    const [state, deadline, late] = found;
    return [id, { state: String(state), hasDeadline: deadline !== false, isLate: late === '1' }];
  });
}

function lapsedIn(keyspace: Keyspace): string[] {
  const fields = Object.entries(hashOf(keyspace, keysOf(SESSION).calls));
  return fields.flatMap(([field, text]) =>
    field.startsWith('lapsed:') && !text.startsWith('approval ') ? field.slice(7) : [],
  );
}

function ownersIn(keyspace: Keyspace, sessionId: string): [string, number][] {
  const writers = Object.entries(hashOf(keyspace, keysOf(sessionId).writers));
  return writers.flatMap(([field, token]): [string, number][] =>
    field.startsWith('t:') ? [[field.slice(2), Number(token)]] : [],
  );
}

export function hashOf(keyspace: Keyspace, key: string): Record<string, string> {
  const flat = keyspace.call('HGETALL', key) as string[];
  const hash: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) hash[flat[at] ?? ''] = flat[at + 1] ?? '';
  return hash;
}
