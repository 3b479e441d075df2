import type { ReactElement } from 'react';
import type { OperatorRunDetail } from '../../../protocol/operator.js';
import { formatWhen } from '../format-when.js';
import { toWords } from '../../../protocol/to-words.js';

/** The steps of a run as its record has them, without their times. */
export function RecordedSteps({ run }: { run: OperatorRunDetail }): ReactElement {
  if (run.steps.length === 0) return <p data-testid="no-steps">It has finished no step yet.</p>;
  return (
    <ol className="plain-list" data-testid="recorded-steps">
      {run.steps.map(({ step, calls }) => (
        <li key={step}>
          Step {step}
          {calls.length > 0 && (
            <ul>
              {calls.map(({ toolCallId, toolName, state, decision }) => (
                <li key={toolCallId}>
                  {toWords(toolName)}: {state}
                  {decision !== undefined &&
                    `, ${decision.approved ? 'approved' : 'denied'} by ${decision.by ?? 'the tool’s rule'} (${formatWhen(decision.at)})`}
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  );
}
