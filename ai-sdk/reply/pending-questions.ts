import type { PendingQuestion } from '../../protocol/http.js';
import type { OpenCall } from '../../stores/contract/call-record.js';
import { toPendingCalls } from '../../stores/record/session-summaries.js';

/** What people are asked now, in the order of the calls. Pure. */
export function toPendingQuestions(openCalls: readonly OpenCall[]): PendingQuestion[] {
  return Object.values(toPendingCalls(openCalls)).flatMap((call) => {
    const { toolCallId, toolName, kind, input, approvalId, deadline, response } = call;
    if (response !== undefined) return [];
    const extra = {
      ...(approvalId !== undefined && { approvalId }),
      ...(deadline !== undefined && { deadline }),
    };
    return [{ toolCallId, toolName, kind, input, ...extra }];
  });
}
