import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { FieldList } from './field-list.js';
import { SchemaForm, useEditedInput } from './form/schema-form.js';
import { ChangeLabel, describeApprovers, EditedNote, ReasonInput } from './question-notes.js';

interface Decision {
  approved: boolean;
  /** The edited input; absent if unchanged. */
  input?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

interface Props {
  question: Partial<PendingQuestion>;
  disabled: boolean;
  onAnswer: (decision: Decision) => void;
}

/** Approves or denies a call, whose input can be edited first. People who may not decide can withdraw it. */
export function ApprovalForm({ question, disabled, onAnswer }: Props): ReactElement {
  const { input, mayDecide = true } = question;
  const [reason, setReason] = useState('');
  const { shape, value, edited, onChange } = useEditedInput(question.schema, input);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (mayDecide && !disabled) onAnswer({ approved: true, input: edited });
      }}
    >
      <EditedNote edited={question.edited} />
      {mayDecide ? (
        <SchemaForm
          // The schema's controls start empty, so they need a new key.
          key={question.schema === undefined ? 'plain' : 'schema'}
          shape={shape}
          value={value}
          given={{ value: input }}
          disabled={disabled}
          onChange={onChange}
        />
      ) : (
        <>
          <FieldList value={input} />
          <p>{describeApprovers(question)}</p>
        </>
      )}
      <div className="approval-tools">
        {mayDecide && (
          <button type="submit" className="primary" data-testid="approve" disabled={disabled}>
            {edited === undefined ? 'Approve' : <ChangeLabel {...question} />}
          </button>
        )}
        <button
          type="button"
          data-testid="deny"
          disabled={disabled}
          onClick={() => onAnswer({ approved: false, reason: reason.trim() || undefined })}
        >
          {mayDecide ? 'Deny' : 'Withdraw'}
        </button>
        <ReasonInput
          testId="deny-reason"
          label={`Reason for ${mayDecide ? 'denying' : 'withdrawing'}`}
          placeholder={`Reason, if you ${mayDecide ? 'deny' : 'withdraw'}`}
          value={reason}
          disabled={disabled}
          onChange={setReason}
        />
      </div>
    </form>
  );
}
