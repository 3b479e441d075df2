import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { hashInput } from '../../protocol/shown-call.js';
import { ApprovalForm } from './approval-form.js';
import { useCurrentConversation, usePageState, useQuestion } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { titleOfAgent } from './tool-names.js';

interface Props {
  approvalId: string;
  toolCallId: string;
  input: unknown;
  /** False if the conversation has moved on; the question is then read-only. */
  open: boolean;
}

export function ApprovalCard({ approvalId, toolCallId, input, open }: Props): ReactElement {
  const { answer, controls } = useCurrentConversation();
  const question = useQuestion(toolCallId);
  const [answered, setAnswered] = useState(false);
  return (
    <div className="approval" data-testid="approval-card">
      {open ? <AskedBy question={question} /> : <p>No longer needed.</p>}
      <ApprovalForm
        question={{ ...question, input }}
        disabled={answered || !open}
        onAnswer={({ approved, input: edited, reason }) => {
          setAnswered(true);
          if (edited === undefined) answer(approvalId, approved, reason);
          else {
            const shown = {
              toolCallId,
              approvalId,
              inputHash: hashInput(input),
            };
            void controls.approveChanged(shown, edited).then(setAnswered);
          }
        }}
      />
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </div>
  );
}

/** Names the agent that asks for approval and the action it would take. */
function AskedBy({ question }: { question: PendingQuestion | undefined }): ReactElement {
  const { cards } = useCurrentConversation();
  const own = usePageState((page) => page.agent);
  const agent = titleOfAgent(cards, question?.agent ?? own);
  return (
    <div className="asked-by" data-testid="asked-by">
      <p>
        <strong>{agent}</strong> asks for your approval. You can change the values first.
      </p>
      {question?.description !== undefined && (
        <details>
          <summary>What this does</summary>
          <p>{question.description}</p>
        </details>
      )}
    </div>
  );
}
