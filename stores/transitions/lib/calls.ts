import { cjson, redis, toNumber } from './host.js';
import type { Session } from './session.js';

/**
 * Fields of a call of the newest committed step. state: open | waiting | approved | started |
 * settled · spec: what was asked for, JSON · row: the result, JSON · decision: about an approval,
 * JSON · automatic: a decision that was made without asking, JSON · asked: sequence of the pause that
 * asked · again: '1' if it may be executed again · n: executions · deadline: ms · late: '1' once it
 * timed out · ask, part: what asks people and shows it, while that is kept back · child: part of the
 * id of the sub-agent's session · brief: the row that this begins with · told: '1' once its run was
 * woken for it · lease: who carries it out · wait: how long people may take, ms · ref: the run that
 * carries a sub-agent's call out, JSON.
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
];

export type CallState = 'open' | 'waiting' | 'approved' | 'started' | 'settled';

export function readCallField(
  session: Session,
  id: string,
  field: CallField | 'lapsed' | 'lapsedAt',
): string | undefined {
  const value = redis.call('HGET', session.calls, `${field}:${id}`);
  return value === false ? undefined : value;
}

/** Some fields of one call. */
export function readCall<Field extends CallField | 'lapsed' | 'lapsedAt'>(
  session: Session,
  id: string,
  names: readonly Field[],
): Record<Field, string | undefined> {
  const asked: string[] = [];
  for (const name of names) asked.push(`${name}:${id}`);
  const values = redis.call('HMGET', session.calls, ...asked);
  const call = {} as Record<Field, string | undefined>;
  for (let at = 0; at < names.length; at += 1) {
    const value = values[at] as string | false;
    if (value !== false) call[names[at] as Field] = value;
  }
  return call;
}

/** A call with the field that was read of it. */
export interface CallWith {
  id: string;
  value: string | undefined;
}

/** One field of all calls of the step, in their order. */
export function readCallsField(session: Session, field: CallField): CallWith[] {
  const ids = redis.call('LRANGE', session.order, 0, -1);
  if (ids.length === 0) return [];
  const names: string[] = [];
  for (const id of ids) names.push(`${field}:${id}`);
  const values = redis.call('HMGET', session.calls, ...names);
  const calls: CallWith[] = [];
  for (let at = 0; at < ids.length; at += 1) {
    const value = values[at] as string | false;
    calls.push({ id: ids[at] as string, value: value === false ? undefined : value });
  }
  return calls;
}

export function hasUnsettled(session: Session): boolean {
  return isUnsettled(readCallsField(session, 'state'));
}

/** @param states of all calls of a step */
export function isUnsettled(states: readonly CallWith[]): boolean {
  for (const { value } of states) if (value !== 'settled') return true;
  return false;
}

/** True for a call that a step before the newest one has taken in. */
export function wasTakenIn(session: Session, id: string): boolean {
  return redis.call('SISMEMBER', session.settled, id) === 1;
}

/** Names of all fields of a call, to forget them. */
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

/** The run that carries a sub-agent's call out. */
export function readChildRun(session: Session, id: string): ChildRun | undefined {
  const { ref, spec } = readCall(session, id, ['ref', 'spec']);
  if (ref !== undefined) return cjson.decode(ref) as ChildRun;
  return spec === undefined ? undefined : (cjson.decode(spec) as { child?: ChildRun }).child;
}

/** How long people may take to answer a call, ms from the pause on. */
export function readWait(session: Session, id: string): number | undefined {
  const wait = readCallField(session, id, 'wait');
  if (wait !== undefined) return wait === '' ? undefined : toNumber(wait);
  // Of a call that an earlier release has opened.
  const spec = readCallField(session, id, 'spec');
  if (spec?.includes('"deadlineMs"') !== true) return undefined;
  return (cjson.decode(spec) as { deadlineMs?: number }).deadlineMs;
}
