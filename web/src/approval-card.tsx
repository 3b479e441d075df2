import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { hashInput } from '../../protocol/shown-call.js';
import { useCurrentConversation, usePageState } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { SchemaForm } from './form/schema-form.js';
import { useEditedInput } from './form/use-edited-input.js';
import { ChangeLabel } from './question-notes.js';
import { ReasonInput } from './reason-input.js';
import { titleOfAgent } from './tool-names.js';

interface Props {
  approvalId: string;
  toolCallId: string;
  input: unknown;
  /** A question that the conversation has left behind can be read, not answered. */
  open: boolean;
}

export function ApprovalCard({ approvalId, toolCallId, input, open }: Props): ReactElement {
  const { answer, controls } = useCurrentConversation();
  const question = usePageState(({ pending }) =>
    pending.find((each) => each.toolCallId === toolCallId),
  );
  const [answered, setAnswered] = useState(false);
  const [reason, setReason] = useState('');
  const { shape, value, edited, onChange } = useEditedInput(question?.schema, input);
  const disabled = answered || !open;

  const approve = (): void => {
    setAnswered(true);
    if (edited === undefined) answer(approvalId, true);
    else {
      const shown = { toolCallId, approvalId, inputHash: hashInput(input) };
      void controls.approveChanged(shown, edited).then(setAnswered);
    }
  };
  const deny = (): void => {
    setAnswered(true);
    answer(approvalId, false, reason.trim());
  };

  return (
    <form
      className="approval"
      data-testid="approval-card"
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled) approve();
      }}
    >
      {open ? <AskedBy question={question} /> : <p>No longer needed.</p>}
      <SchemaForm
        // With the schema come other controls, which hold nothing yet.
        key={question?.schema === undefined ? 'plain' : 'schema'}
        shape={shape}
        value={value}
        given={{ value: input }}
        disabled={disabled}
        onChange={onChange}
      />
      <div className="approval-tools">
        <button type="submit" className="primary" data-testid="approve" disabled={disabled}>
          {edited === undefined ? 'Approve' : <ChangeLabel {...question} />}
        </button>
        <button type="button" data-testid="deny" disabled={disabled} onClick={deny}>
          Deny
        </button>
        <ReasonInput
          testId="deny-reason"
          label="Reason for denying"
          placeholder="Reason, if you deny"
          value={reason}
          disabled={disabled}
          onChange={setReason}
        />
      </div>
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </form>
  );
}

/** Who asks for an approval, and what the agent would do. */
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
