import { redis } from './host.js';
import { contentAt, type Content } from './request.js';
import { isConversation, type Session } from './session.js';
import { settleRow } from './settling.js';
import { noteOwner } from './walk.js';

/** A call that a step opens. */
export interface NewCallRequest {
  id: string;
  name: string;
  kind: 'server' | 'approval' | 'client' | 'subagent';
  spec: Content;
  /** The result, if the call is settled from the start. */
  row?: Content;
  /** May be executed again after the worker that started it was lost. */
  idempotent?: boolean;
  /** A decision that was made without a person. */
  automatic?: Content;
  /** How long people may take to answer, ms after the pause. */
  deadlineMs?: number;
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

export function openCall(session: Session, call: NewCallRequest, args: readonly string[]): void {
  const { id, kind } = call;
  const state = kind === 'server' || kind === 'subagent' ? 'open' : 'waiting';
  const again = call.idempotent === true ? '1' : '';
  redis.call('RPUSH', session.order, id);
  const fields: (string | number)[] = [`name:${id}`, call.name, `kind:${id}`, kind];
  fields.push(`spec:${id}`, contentAt(args, call.spec), `state:${id}`, state, `again:${id}`, again);
  if (call.automatic !== undefined) fields.push(`automatic:${id}`, contentAt(args, call.automatic));
  fields.push(`wait:${id}`, call.deadlineMs ?? '');
  if (call.child !== undefined) {
    fields.push(`child:${id}`, call.child, `ref:${id}`, contentAt(args, call.ref));
    fields.push(`brief:${id}`, contentAt(args, call.brief));
  }
  if (call.ask !== undefined && call.row === undefined) {
    fields.push(`ask:${id}`, contentAt(args, call.ask), `part:${id}`, contentAt(args, call.part));
  }
  redis.call('HSET', session.calls, ...fields);
  if (call.row !== undefined) settleRow(session, id, contentAt(args, call.row));
  else if (state === 'open') redis.call('SADD', session.busy, id);
  if (!isConversation(session)) noteOwner(session, id);
}
