import { useState, type ReactElement } from 'react';
import { useCurrentConversation } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { editableFields, editedInput } from './editable-input.js';
import { InputForm } from './input-form.js';

interface Props {
  approvalId: string;
  toolCallId: string;
  /** The tool's name for people. */
  title: string;
  input: unknown;
  /** A question that the conversation has left behind can be read, not answered. */
  open: boolean;
}

export function ApprovalCard({ approvalId, toolCallId, title, input, open }: Props): ReactElement {
  const { answer, controls } = useCurrentConversation();
  const [answered, setAnswered] = useState(false);
  const [reason, setReason] = useState('');
  const [texts, setTexts] = useState<Record<string, string>>({});
  const disabled = answered || !open;
  const fields = editableFields(input);
  const edited = editedInput(input, texts);

  const approve = (): void => {
    setAnswered(true);
    if (edited === undefined) answer(approvalId, true);
    else void controls.approveChanged(toolCallId, edited).then(setAnswered);
  };
  const deny = (): void => {
    setAnswered(true);
    answer(approvalId, false, reason.trim());
  };

  return (
    <form
      className="approval"
      data-testid="approval-card"
      aria-label={`Approval of ${title}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled) approve();
      }}
    >
      <p>
        {open
          ? `May the agent do this: ${title}? You can change what it asks for.`
          : 'No longer needed.'}
      </p>
      <InputForm
        fields={fields}
        texts={texts}
        disabled={disabled}
        onChange={(name, text) => {
          setTexts((before) => ({ ...before, [name]: text }));
        }}
      />
      <div className="approval-tools">
        <button type="submit" className="primary" data-testid="approve" disabled={disabled}>
          {edited === undefined ? 'Approve' : 'Approve with changes'}
        </button>
        <button type="button" data-testid="deny" disabled={disabled} onClick={deny}>
          Deny
        </button>
        <input
          data-testid="deny-reason"
          aria-label="Reason for denying (optional)"
          placeholder="Reason, if you deny"
          value={reason}
          disabled={disabled}
          onChange={(event) => {
            setReason(event.target.value);
          }}
        />
      </div>
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </form>
  );
}
