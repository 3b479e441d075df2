import type { BeginChildResult } from '../contract/runs.js';
import type { ScriptReply } from './scripts.js';

export function toBeginChildResult([kind]: ScriptReply): BeginChildResult {
  if (kind === 'BEGUN') return { kind: 'begun' };
  if (kind === 'LIMIT') return { kind: 'limit' };
  if (kind === 'SUPERSEDED') return { kind: 'superseded' };
  if (kind === 'REFUSED') return { kind: 'refused' };
  throw new Error(`script begin-child replied ${String(kind)}`);
}
