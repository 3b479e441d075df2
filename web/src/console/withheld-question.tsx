import { useState, type ReactElement } from 'react';
import type { OperatorQuestion } from '../../../protocol/operator.js';
import { ReasonInput } from '../reason-input.js';
import { describeDeciders } from './describe-deciders.js';

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
