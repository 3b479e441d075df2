import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { editableFields, editedInput } from './editable-input.js';
import { FieldList } from './field-list.js';
import { formatWhen } from './format-when.js';
import type { InboxDecision } from './inbox.js';
import { InputForm } from './input-form.js';
import { toWords } from './to-words.js';

interface Props {
  question: PendingQuestion;
  onDecide: (decision: InboxDecision) => void;
  /** Shows the conversation that asks. */
  onOpen: () => void;
}

/** A question of any conversation: an approval is decided here, anything else in its conversation. */
export function InboxQuestion({ question, onDecide, onOpen }: Props): ReactElement {
  const { toolName, kind, input, mayDecide, deadline } = question;
  const [texts, setTexts] = useState<Record<string, string>>({});
  const [reason, setReason] = useState('');
  const isApproval = kind === 'approval';
  const fields = isApproval && mayDecide !== false ? editableFields(input) : [];
  const isWhole = fields.length > 0 && fields.length === Object.keys(input ?? {}).length;
  const edited = editedInput(input, texts);
  return (
    <section aria-label={toWords(toolName)}>
      <strong>{toWords(toolName)}</strong>
      {deadline !== undefined && <span className="deadline">until {formatWhen(deadline)}</span>}
      {!isWhole && <FieldList value={input} />}
      <InputForm
        fields={fields}
        texts={texts}
        disabled={false}
        onChange={(name, text) => {
          setTexts((before) => ({ ...before, [name]: text }));
        }}
      />
      <div className="approval-tools">
        {!isApproval && (
          <button type="button" onClick={onOpen}>
            Answer in the conversation
          </button>
        )}
        {isApproval && mayDecide === false && <span>A colleague has to agree.</span>}
        {isApproval && mayDecide !== false && (
          <button
            type="button"
            className="primary"
            data-testid="inbox-approve"
            onClick={() => {
              onDecide({ approved: true, input: edited });
            }}
          >
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
    </section>
  );
}
