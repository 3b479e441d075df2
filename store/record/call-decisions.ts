import type { CallDecision } from '../../protocol/replies.js';
import type { Decision, Row } from '../../protocol/rows.js';
import type { OpenCall } from '../contract/call-record.js';

/**
 * Who decided about which calls; messages have the decision only, as clients know it. Empty without any.
 * Pure.
 */
export function toCallDecisions(
  openCalls: readonly OpenCall[],
  rows: readonly Row[] = [],
): { decisions?: CallDecision[] } {
  const known = new Map<string, CallDecision>();
  const add = (toolCallId: string, decision: Decision | undefined): void => {
    if (decision === undefined) return;
    const { approved, by, at, automatic } = decision;
    known.set(toolCallId, { toolCallId, approved, by, at, automatic });
  };
  for (const row of rows) if (row.role === 'tool') add(row.toolCallId, row.decision);
  for (const { spec, row, decision } of openCalls) {
    add(spec.toolCallId, (row?.role === 'tool' ? row.decision : undefined) ?? decision);
  }
  return known.size === 0 ? {} : { decisions: [...known.values()] };
}
