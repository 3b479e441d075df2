import { useState, type ReactElement } from 'react';

export type OnAnswer = (approvalId: string, approved: boolean, reason?: string) => void;

interface Props {
  approvalId: string;
  tool: string;
  /** A question that the conversation has left behind can be read, not answered. */
  open: boolean;
  onAnswer: OnAnswer;
}

export function ApprovalCard({ approvalId, tool, open, onAnswer }: Props): ReactElement {
  const [answered, setAnswered] = useState(false);
  const [reason, setReason] = useState('');
  const disabled = answered || !open;

  const answer = (approved: boolean): void => {
    setAnswered(true);
    onAnswer(approvalId, approved, approved ? undefined : reason.trim());
  };

  return (
    <form
      className="approval"
      data-testid="approval-card"
      aria-label={`Approval of ${tool}`}
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <p>{open ? `May the agent run ${tool}?` : 'No longer needed.'}</p>
      <div className="approval-tools">
        <button
          type="button"
          className="primary"
          data-testid="approve"
          disabled={disabled}
          onClick={() => {
            answer(true);
          }}
        >
          Approve
        </button>
        <button
          type="button"
          data-testid="deny"
          disabled={disabled}
          onClick={() => {
            answer(false);
          }}
        >
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
    </form>
  );
}
