import type { PendingQuestion } from 'helix-temporal/protocol';
import { useState } from 'react';
import type { CallPart } from './tool-line.js';
import { Values } from './values.js';

export interface Answer {
  id: string;
  approved: boolean;
  reason?: string;
}

interface Props {
  part: Extract<CallPart, { state: 'approval-requested' }>;
  title: string;
  /** The server's question; undefined until it arrives. */
  question: PendingQuestion | undefined;
  onAnswer: (answer: Answer) => unknown;
}

/** Asks whether a tool may run. */
export function ApprovalCard({ part, title, question, onAnswer }: Props) {
  const [reason, setReason] = useState('');
  const [isAnswered, setAnswered] = useState(false);
  const answer = (approved: boolean) => {
    setAnswered(true);
    onAnswer({ id: part.approval.id, approved, ...(reason.trim() && { reason: reason.trim() }) });
  };
  return (
    <section className="approval" aria-label={`Approval: ${title}`}>
      <h2>{title}?</h2>
      {question?.description && <p className="soft">{question.description}</p>}
      <Values of={part.input} schema={question?.schema} />
      <div className="answer">
        <button className="primary" disabled={isAnswered} onClick={() => answer(true)}>
          Approve
        </button>
        <button disabled={isAnswered} onClick={() => answer(false)}>
          Deny
        </button>
        <input
          aria-label="Reason (optional)"
          placeholder="Reason (optional)"
          value={reason}
          disabled={isAnswered}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
      {question?.deadline !== undefined && (
        <p className="soft">
          Without an answer until {formatTime(question.deadline)} it is denied.
        </p>
      )}
    </section>
  );
}

function formatTime(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'short' });
}
