import { formatInt, redis } from './host.js';
import { contentAt, type Content } from './request.js';
import { isConversation, type Session } from './session.js';
import { settleRow } from './settling.js';
import { noteOwner } from './walk.js';

/** A call that a step opens. */
export interface NewCallRequest {
  id: string;
  name: string;
  kind: 'server' | 'approval' | 'client' | 'subagent' | 'timer' | 'webhook';
  spec: Content;
  /** The result, if the call is settled from the start. */
  row?: Content;
  /** May be executed again after the worker that started it was lost. */
  idempotent?: boolean;
  /** A decision that was made without a person. */
  automatic?: Content;
  /** How long people may take to answer, ms after the pause. */
  deadlineMs?: number;
  /** Its tool demands an approver: an answer needs the mark of a permission. */
  guarded?: boolean;
  /**
   * The chunk that asks people (without step and time) and the one that shows the call; both are
   * deferred until the pause.
   */
  ask?: Content;
  part?: Content;
  /** Part of the sub-agent's session id, its run, and the first row of its session. */
  child?: string;
  ref?: Content;
  brief?: Content;
}

/** Opens the calls of a step. @returns true if one of them can progress without a person */
export function openCalls(
  session: Session,
  calls: readonly NewCallRequest[],
  args: readonly string[],
): boolean {
  if (calls.length === 0) return false;
  const ids: string[] = [];
  const busy: string[] = [];
  for (const call of calls) {
    const { id, kind } = call;
    const state = kind === 'server' || kind === 'subagent' ? 'open' : 'waiting';
    redis.call('HSET', session.calls, ...fieldsOfCall(call, state, args));
    ids.push(id);
    if (call.row !== undefined) settleRow(session, id, contentAt(args, call.row));
    else if (state === 'open') busy.push(id);
    if (!isConversation(session)) noteOwner(session, id);
  }
  redis.call('RPUSH', session.order, ...ids);
  if (busy.length > 0) redis.call('SADD', session.busy, ...busy);
  return busy.length > 0;
}

/** Names and values. */
function fieldsOfCall(call: NewCallRequest, state: string, args: readonly string[]): string[] {
  const { id, automatic, deadlineMs, child, ask } = call;
  const fields = [
    `state:${id}`,
    state,
    `name:${id}`,
    call.name,
    `kind:${id}`,
    call.kind,
    `spec:${id}`,
    contentAt(args, call.spec),
    `again:${id}`,
    call.idempotent === true ? '1' : '',
    `wait:${id}`,
    deadlineMs === undefined ? '' : formatInt(deadlineMs),
  ];
  if (call.guarded === true) fields.push(`guard:${id}`, '1');
  if (automatic !== undefined) fields.push(`automatic:${id}`, contentAt(args, automatic));
  if (child !== undefined) {
    fields.push(`child:${id}`, child, `ref:${id}`, contentAt(args, call.ref));
    fields.push(`brief:${id}`, contentAt(args, call.brief));
  }
  if (ask !== undefined && call.row === undefined) {
    fields.push(`ask:${id}`, contentAt(args, ask), `part:${id}`, contentAt(args, call.part));
  }
  return fields;
}
