import { cjson, redis } from './host.js';
import type { Session } from './session.js';

/**
 * Fields of a call of the newest committed step.
 *
 * state: open | waiting | approved | started | settled · spec: what the model asked for, JSON ·
 * row: the result, JSON · decision: a person's decision about an approval, JSON · automatic: a
 * decision made without a person, JSON · asked: sequence of the pause that asked people · again:
 * '1' if the call may be executed again · n: number of executions · deadline: ms · late: '1' once
 * it timed out · ask, part: the chunk that asks people and the one that shows the call, deferred
 * until the pause · child: part of the id of the sub-agent's session · brief: the first row of that
 * session · told: '1' once the run was woken for its answer · lease: the page that carries it out ·
 * wait: how long people may take, ms · ref: the run that carries out a sub-agent's call, JSON ·
 * guard: '1' if its tool demands an approver · unsure: '1' while its tool is asked whether a lost
 * execution took effect · ops: number of operations in its journal · opBytes: their size · sealed:
 * notes of events that were emitted before the newest of them · of: the call that waits for this one ·
 * release: number of the release that was the first to name the call as approved · approver: the
 * verified person who approved it, JSON · edit: the input that a person put in place of the model's,
 * JSON · edits: which edit that is, from 1.
 */
export type CallField =
  | ('state' | 'name' | 'kind' | 'spec' | 'row' | 'decision' | 'automatic' | 'asked' | 'again')
  | (
      | 'n'
      | 'deadline'
      | 'late'
      | 'ask'
      | 'part'
      | 'child'
      | 'brief'
      | 'told'
      | 'lease'
      | 'wait'
      | 'ref'
      | 'guard'
      | 'unsure'
      | 'ops'
      | 'opBytes'
      | 'sealed'
      | 'of'
      | 'release'
      | 'approver'
      | 'edit'
      | 'edits'
    );

const CALL_FIELDS: readonly CallField[] = [
  'state',
  'name',
  'kind',
  'spec',
  'row',
  'decision',
  'automatic',
  'asked',
  'again',
  'n',
  'deadline',
  'late',
  'ask',
  'part',
  'child',
  'brief',
  'told',
  'lease',
  'wait',
  'ref',
  'guard',
  'unsure',
  'ops',
  'opBytes',
  'sealed',
  'of',
  'release',
  'approver',
  'edit',
  'edits',
];

export function readCallField(
  session: Session,
  id: string,
  field: CallField | 'lapsed' | 'lapsedAt',
): string | undefined {
  const value = redis.call('HGET', session.calls, `${field}:${id}`);
  return value === false ? undefined : value;
}

/** Reads some fields of one call. */
export function readCall<Field extends CallField | 'lapsed' | 'lapsedAt'>(
  session: Session,
  id: string,
  names: readonly Field[],
): Record<Field, string | undefined> {
  const fields: string[] = [];
  for (const name of names) fields.push(`${name}:${id}`);
  const values = redis.call('HMGET', session.calls, ...fields);
  const call = {} as Record<Field, string | undefined>;
  for (let at = 0; at < names.length; at += 1) {
    const value = values[at] as string | false;
    if (value !== false) call[names[at] as Field] = value;
  }
  return call;
}

/** Some fields of all calls of the step, in their order. */
export function readCalls<Field extends CallField>(
  session: Session,
  fields: readonly Field[],
): ({ id: string } & Record<Field, string | undefined>)[] {
  const ids = redis.call('LRANGE', session.order, '0', '-1');
  if (ids.length === 0) return [];
  const names: string[] = [];
  for (const id of ids) for (const field of fields) names.push(`${field}:${id}`);
  const values = redis.call('HMGET', session.calls, ...names);
  const calls: ({ id: string } & Record<Field, string | undefined>)[] = [];
  let at = 0;
  for (const id of ids) {
    const call = { id } as Record<'id' | Field, string | undefined>;
    for (const field of fields) {
      const value = values[at] as string | false;
      if (value !== false) call[field] = value;
      at += 1;
    }
    calls.push(call as { id: string } & Record<Field, string | undefined>);
  }
  return calls;
}

export function hasUnsettled(session: Session): boolean {
  return isUnsettled(readCalls(session, ['state']));
}

/** @param calls all of a step */
export function isUnsettled(calls: readonly { state: string | undefined }[]): boolean {
  for (const { state } of calls) if (state !== 'settled') return true;
  return false;
}

/** True for a call of an earlier step, whose result is in the transcript. */
export function wasTakenIn(session: Session, id: string): boolean {
  return redis.call('SISMEMBER', session.settled, id) === 1;
}

/** Names of all fields of a call, to delete them. */
export function fieldsOf(id: string): string[] {
  const names: string[] = [];
  for (const field of CALL_FIELDS) names.push(`${field}:${id}`);
  return names;
}

export interface ChildRun {
  sessionId: string;
  runId: string;
  agent: string;
}

/** The run that carries out a sub-agent's call. */
export function readChildRun(session: Session, id: string): ChildRun | undefined {
  const ref = readCallField(session, id, 'ref');
  return ref === undefined ? undefined : (cjson.decode(ref) as ChildRun);
}
