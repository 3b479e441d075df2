import type { CallKind } from '../../protocol/run.js';
import type { OpenCall } from '../contract/call-record.js';

/** Returns true for calls that people or their pages answer. */
export function isQuestion({ kind }: { kind: CallKind }): boolean {
  return kind === 'approval' || kind === 'client';
}

/** Returns true for a question that is asked and not answered. */
export function asks({ spec, row, decision, held = false }: OpenCall): boolean {
  return isQuestion(spec) && !held && row === undefined && decision === undefined;
}
