import { useLayoutEffect, useState, type ReactElement, type ReactNode } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { FieldList } from './field-list.js';
import { shownOfQuestion } from './form/result-form.js';
import { SchemaForm, useEditedInput } from './form/schema-form.js';
import { ChangeLabel, describeApprovers, EditedNote } from './question-notes.js';

export interface Decision {
  approved: boolean;
  /** The edited input; absent if unchanged, and from a denial. */
  input?: Record<string, unknown> | undefined;
  reason?: string | undefined;
}

interface Props {
  question: Partial<PendingQuestion>;
  /** Name of the call, for the label of the reason where several calls are shown. */
  title?: string;
  disabled: boolean;
  /** Says who decides instead of the reader. Default: the approvers of the question. */
  deciders?: string;
  /** False if a reader who may not decide may not withdraw the call either. */
  mayWithdraw?: boolean;
  /** Shown between the values and the buttons. */
  children?: ReactNode;
  /** Called when the form becomes edited or pristine, even if its values are invalid. */
  onTouched?: (isTouched: boolean) => void;
  onAnswer: (decision: Decision) => void;
}

/** Approves or denies a call, whose input can be edited first. People who may not decide can withdraw it. */
export function ApprovalForm(props: Props): ReactElement {
  const { question, title, disabled, deciders, mayWithdraw = true, children } = props;
  const { onTouched, onAnswer } = props;
  const { input, mayDecide = true } = question;
  const [reason, setReason] = useState('');
  const [isTyped, setTyped] = useState(false);
  const { shape, value, edited, onChange } = useEditedInput(question.schema, input);
  const text = reason.trim() || undefined;
  const about = title === undefined ? '' : ` for the decision about ${title}`;
  const isTouched = isTyped || edited !== undefined || text !== undefined;
  useLayoutEffect(() => onTouched?.(isTouched), [isTouched, onTouched]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (mayDecide && !disabled) onAnswer({ approved: true, input: edited, reason: text });
      }}
    >
      <EditedNote edited={question.edited} />
      {mayDecide ? (
        <div onChange={() => setTyped(true)}>
          <SchemaForm
            // The schema's controls start empty, so they need a new key.
            key={question.schema === undefined ? 'plain' : 'schema'}
            shape={shape}
            value={value}
            given={{ value: input }}
            disabled={disabled}
            onChange={onChange}
          />
        </div>
      ) : (
        <>
          <FieldList value={shownOfQuestion(input)} />
          <p data-testid="not-yours">{deciders ?? describeApprovers(question)}</p>
        </>
      )}
      {children}
      {(mayDecide || mayWithdraw) && (
        <div className="approval-tools">
          {mayDecide && (
            <button type="submit" className="primary" data-testid="approve" disabled={disabled}>
              {edited === undefined ? 'Approve' : <ChangeLabel {...question} />}
            </button>
          )}
          <button
            type="button"
            data-testid={mayDecide ? 'deny' : 'withdraw'}
            disabled={disabled}
            onClick={() => onAnswer({ approved: false, reason: text })}
          >
            {mayDecide ? 'Deny' : 'Withdraw'}
          </button>
          <input
            data-testid="answer-reason"
            aria-label={`Reason${about} (optional)`}
            placeholder="Reason, which the agent reads"
            value={reason}
            disabled={disabled}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              // Enter would approve, and the reason may be one for a denial.
              if (event.key === 'Enter') event.preventDefault();
            }}
          />
        </div>
      )}
    </form>
  );
}
