import type { Decision } from '../../protocol/rows.js';
import type { Resumption } from '../../protocol/run.js';
import type { CallSpec, Wake } from '../contract/call-record.js';
import type {
  ExtendDeadlineResult,
  LeaseCallResult,
  SettleCallResult,
  StartCallResult,
} from '../contract/calls.js';
import { parse, unexpected } from './parse-reply.js';
import type { ScriptReply } from './scripts.js';

/** Replies of the scripts for single calls → results of the transitions. Pure. */

export function toStartCallResult(reply: ScriptReply): StartCallResult {
  const [kind, spec, execution, decision, step] = reply;
  switch (kind) {
    case 'EXECUTE':
      return {
        kind: 'execute',
        call: parse(spec) as CallSpec,
        execution: Number(execution),
        ...(decision !== '' && { decision: parse(decision) as Decision }),
        ...(step !== '' && { shownIn: Number(step) }),
      };
    case 'SETTLED':
      return { kind: 'settled' };
    case 'STOPPED':
      return { kind: 'stopped' };
    case 'SUPERSEDED':
      return { kind: 'superseded' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'REFUSED':
      return { kind: 'refused' };
    default:
      throw unexpected('start-call', kind);
  }
}

export function toSettleCallResult([
  kind,
  sequence,
  resume,
  others,
]: ScriptReply): SettleCallResult {
  switch (kind) {
    case 'STORED':
      return {
        kind: 'stored',
        sequence: Number(sequence),
        ...(resume !== '' && { resume: parse(resume) as Resumption }),
        ...(others !== '' && { others: parse(others) as Wake[] }),
      };
    case 'ALREADY':
      return { kind: 'already_completed' };
    case 'NOT_PENDING':
      return { kind: 'not_pending' };
    case 'KIND':
      return { kind: 'kind_mismatch' };
    case 'STALE':
      return { kind: 'stale_run' };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'EXPIRED':
      return { kind: 'expired' };
    case 'LATE':
      return { kind: 'late' };
    case 'NOT_DUE':
      return { kind: 'not_due', ...(sequence !== '' && { dueInMs: Number(sequence) }) };
    default:
      throw unexpected('settle-call', kind);
  }
}

export function toLeaseResult([kind, forMs]: ScriptReply): LeaseCallResult {
  switch (kind) {
    case 'LEASED':
      return { kind: 'leased' };
    case 'HELD':
      return { kind: 'held', forMs: Number(forMs) };
    case 'ALREADY':
      return { kind: 'already_completed' };
    case 'NOT_PENDING':
      return { kind: 'not_pending' };
    case 'STALE':
      return { kind: 'stale_run' };
    case 'KIND':
      return { kind: 'kind_mismatch' };
    default:
      throw unexpected('lease-call', kind);
  }
}

export function toExtendResult([kind, deadline, dueInMs]: ScriptReply): ExtendDeadlineResult {
  switch (kind) {
    case 'EXTENDED':
      return { kind: 'extended', deadline: Number(deadline), dueInMs: Number(dueInMs) };
    case 'ALREADY':
      return { kind: 'already_completed' };
    case 'NOT_PENDING':
      return { kind: 'not_pending' };
    case 'STALE':
      return { kind: 'stale_run' };
    case 'NO_DEADLINE':
      return { kind: 'no_deadline' };
    case 'EXPIRED':
      return { kind: 'expired' };
    case 'TOO_FAR':
      return { kind: 'too_far' };
    default:
      throw unexpected('extend-deadline', kind);
  }
}
