import type { Decision, ToolRow } from '../../../protocol/rows.js';
import type { SettleCallInput, SettleCallResult } from '../../../store/contract/calls.js';
import type { StockChat } from '../../support/stock-chat.js';
import type { Change } from './changes.js';

/** A person's answer to one call. */
export type GivenAnswer = { toolCallId: string } & ({ decision: Decision } | { row: ToolRow });

/**
 * The answers that come next, if they are all that the conversation waits for and a stock page can
 * give them; otherwise none.
 */
export function answersAhead(changes: readonly Change[]): GivenAnswer[] {
  const given: GivenAnswer[] = [];
  for (const { name, args, result } of changes) {
    const [input] = args as [SettleCallInput];
    if (name !== 'calls.settle') return [];
    if (input.source === 'approval' && input.decision.input === undefined) {
      given.push({ toolCallId: input.toolCallId, decision: input.decision });
    } else if (input.source === 'client') {
      given.push({ toolCallId: input.toolCallId, row: input.row });
    } else {
      return [];
    }
    const { resume, others } = result as Extract<SettleCallResult, { kind: 'stored' }>;
    if (resume !== undefined || others !== undefined) return given;
  }
  return [];
}

/** Clicks and results as on a page, which posts them when all are there. */
export async function giveAnswers(chat: StockChat, answers: readonly GivenAnswer[]): Promise<void> {
  for (const answer of answers) {
    const { toolCallId } = answer;
    if ('decision' in answer) {
      const { approved, reason } = answer.decision;
      const id = openQuestion(chat, toolCallId);
      await chat.addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
    } else {
      const { row } = answer;
      const given =
        row.error === undefined
          ? { output: row.output }
          : { state: 'output-error' as const, errorText: row.error };
      await chat.addToolOutput({ tool: row.toolName, toolCallId, ...given });
    }
  }
}

function openQuestion({ messages }: StockChat, toolCallId: string): string {
  for (const part of messages.at(-1)?.parts ?? []) {
    if (part.type !== 'dynamic-tool' || !('toolCallId' in part)) continue;
    if (part.toolCallId !== toolCallId || part.state !== 'approval-requested') continue;
    return part.approval.id;
  }
  throw new Error(`the page does not ask about ${toolCallId}`);
}
