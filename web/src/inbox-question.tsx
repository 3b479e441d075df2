import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { SchemaForm } from './form/schema-form.js';
import { useEditedInput } from './form/use-edited-input.js';
import { FieldList } from './field-list.js';
import { shownOfQuestion } from './form/schema-of-result.js';
import { formatWhen } from './format-when.js';
import type { InboxDecision } from './inbox.js';
import { toWords } from '../../protocol/to-words.js';

interface Props {
  question: PendingQuestion;
  onDecide: (decision: InboxDecision) => void;
  /** Shows the conversation that asks. */
  onOpen: () => void;
}

/** A question of any conversation: an approval is decided here, anything else in its conversation. */
export function InboxQuestion({ question, onDecide, onOpen }: Props): ReactElement {
  const { toolName, kind, input, mayDecide, deadline, description, schema } = question;
  const title = question.title ?? toWords(toolName);
  const [reason, setReason] = useState('');
  const { shape, value, edited, onChange } = useEditedInput(schema, input);
  const isApproval = kind === 'approval';
  const mayApprove = isApproval && mayDecide !== false;
  return (
    <form
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        if (mayApprove) onDecide({ approved: true, input: edited });
      }}
    >
      <div className="inbox-line">
        <strong>{title}</strong>
        {deadline !== undefined && <span className="deadline">until {formatWhen(deadline)}</span>}
      </div>
      {description !== undefined && <p className="about-call">{description}</p>}
      {mayApprove ? (
        <SchemaForm
          shape={shape}
          value={value}
          given={{ value: input }}
          disabled={false}
          onChange={onChange}
        />
      ) : (
        <FieldList value={shownOfQuestion(input)} />
      )}
      <div className="approval-tools">
        {!isApproval && (
          <button type="button" onClick={onOpen}>
            Answer in the conversation
          </button>
        )}
        {isApproval && mayDecide === false && <span>A colleague has to agree.</span>}
        {mayApprove && (
          <button type="submit" className="primary" data-testid="inbox-approve">
            {edited === undefined ? 'Approve' : 'Approve with changes'}
          </button>
        )}
        {isApproval && (
          <>
            <button
              type="button"
              data-testid="inbox-deny"
              onClick={() => {
                onDecide({ approved: false, reason: reason.trim() || undefined });
              }}
            >
              {mayDecide === false ? 'Withdraw' : 'Deny'}
            </button>
            <input
              aria-label="Reason for denying (optional)"
              placeholder="Reason, if you deny"
              data-testid="inbox-reason"
              value={reason}
              onChange={(event) => {
                setReason(event.target.value);
              }}
            />
          </>
        )}
      </div>
    </form>
  );
}
