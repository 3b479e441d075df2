import {
  lastAssistantMessageIsCompleteWithApprovalResponses as approvalsComplete,
  lastAssistantMessageIsCompleteWithToolCalls as toolsComplete,
  type UIMessage,
} from 'ai';

/** Whether everything that the newest message asks people is answered; the stock conditions. */
export function answersAreComplete(conversation: { messages: UIMessage[] }): boolean {
  return approvalsComplete(conversation) || toolsComplete(conversation);
}
