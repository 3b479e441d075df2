import type { ReactElement } from 'react';
import type { AnswerBody, PendingQuestion } from '../../protocol/http.js';
import { AnswerForm } from './answer-form.js';
import { ApprovalForm } from './approval-form.js';
import { toWords } from '../../protocol/shown-call.js';
import { formatWhen } from './format-when.js';

interface Props {
  question: PendingQuestion;
  /** An answer is on its way. */
  disabled: boolean;
  onAnswer: (answer: AnswerBody) => void;
}

/** A question of any conversation, which is answered here. */
export function InboxQuestion({ question, disabled, onAnswer }: Props): ReactElement {
  const { toolCallId, toolName, kind, input, deadline, description } = question;
  const title = question.title ?? toWords(toolName);
  return (
    <div
      role="group"
      className="inbox-question"
      aria-label={title}
      data-testid="inbox-question"
      data-call={toolCallId}
    >
      <div className="inbox-line">
        <strong>{title}</strong>
        <span className="deadline" data-testid="inbox-deadline">
          {describeDeadline(deadline)}
        </span>
      </div>
      {description !== undefined && <p className="about-call">{description}</p>}
      {kind === 'approval' ? (
        <ApprovalForm {...{ question, disabled, onAnswer }} />
      ) : (
        <AnswerForm {...{ toolName, title, disabled, onAnswer, input }} schema={question.schema} />
      )}
    </div>
  );
}

/** Until when a question can be answered, where the time left does not count down. Pure. */
function describeDeadline(deadline: number | undefined, now = Date.now()): string {
  if (deadline === undefined) return 'waits until it is answered';
  return deadline <= now ? 'The time is over.' : `until ${formatWhen(deadline, now)}`;
}
