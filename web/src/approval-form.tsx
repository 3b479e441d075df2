import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { FieldList } from './field-list.js';
import { SchemaForm, useEditedInput } from './form/schema-form.js';
import { ChangeLabel, describeApprovers, EditedNote, ReasonInput } from './question-notes.js';

interface Decision {
  approved: boolean;
  /** As it was changed. */
  input?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

interface Props {
  question: Partial<PendingQuestion>;
  disabled: boolean;
  onAnswer: (decision: Decision) => void;
}

/** Decides about a call, whose input can be changed first; those who may not decide can withdraw it. */
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
          // With the schema come other controls, which hold nothing yet.
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
          onClick={() => {
            onAnswer({ approved: false, reason: reason.trim() || undefined });
          }}
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
