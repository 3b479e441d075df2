import { type ReactElement, useState } from 'react';
import type { OperatorQuestion } from '../../../protocol/operator.js';
import { ReasonInput } from '../reason-input.js';

interface Props {
  question: OperatorQuestion;
  title: string;
  busy: boolean;
  onWithdraw: (reason: string) => void;
}

/** A question that others decide: who they are, and the way back for the one by whose doing it is asked. */
export function WithheldQuestion(props: Props): ReactElement {
  const { question, title, busy, onWithdraw } = props;
  const [reason, setReason] = useState('');
  return (
    <>
      <p data-testid="not-yours">{describeDeciders(question)}</p>
      {question.mayWithdraw === true && (
        <div className="acts">
          <button
            type="button"
            data-testid="withdraw"
            disabled={busy}
            onClick={() => {
              onWithdraw(reason);
            }}
          >
            Withdraw
          </button>
          <ReasonInput
            testId="withdraw-reason"
            label={`Reason for withdrawing ${title}`}
            placeholder="Reason, which the agent reads"
            value={reason}
            disabled={busy}
            onChange={setReason}
          />
        </div>
      )}
    </>
  );
}

/** Who has to decide a question in place of the one who reads this. Pure. */
export function describeDeciders({
  missingRoles = [],
  mayWithdraw,
  separateApprover = false,
}: Pick<OperatorQuestion, 'missingRoles' | 'mayWithdraw' | 'separateApprover'>): string {
  if (missingRoles.length === 0) {
    return mayWithdraw === true
      ? 'You have asked for this, so another person has to agree.'
      : 'Another person has to decide this.';
  }
  const roles = missingRoles.map((role) => `“${role}”`).join(' or ');
  const others = ' It cannot be the one who asked, nor who began the run again.';
  return `This needs the role ${roles}.${separateApprover ? others : ''}`;
}
