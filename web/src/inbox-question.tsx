import type { ReactElement } from 'react';
import type { AnswerBody, PendingQuestion } from '../../protocol/http.js';
import { ChoiceList } from './choice-list.js';
import { toChoice, toCustomerQuestion } from './customer-question.js';
import { FieldList } from './field-list.js';
import { DECLINED, ResultForm } from './form/result-form.js';
import { schemaOfResult, shownOfQuestion } from './form/schema-of-result.js';
import { ApprovalForm } from './approval-form.js';
import { toWords } from '../../protocol/to-words.js';
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
        <InboxResult {...{ toolName, title, disabled, onAnswer, input }} schema={question.schema} />
      )}
    </div>
  );
}

interface ResultProps extends Pick<Props, 'disabled' | 'onAnswer'> {
  toolName: string;
  title: string;
  input: unknown;
  schema: unknown;
}

/** What a page carries out for the agent: the person answers in its place. */
function InboxResult(props: ResultProps): ReactElement {
  const { toolName, title, input, schema, disabled, onAnswer } = props;
  const asked = toCustomerQuestion(toolName, input);
  if (asked !== undefined) {
    return (
      <ChoiceList
        asked={asked}
        disabled={disabled}
        onChoose={(optionId) => {
          onAnswer({ result: toChoice(optionId) });
        }}
      />
    );
  }
  const shown = shownOfQuestion(input);
  return (
    <>
      {shown !== undefined && <FieldList value={shown} />}
      <ResultForm
        title={title}
        schema={schemaOfResult(schema, input)}
        disabled={disabled}
        onResult={(result) => {
          onAnswer({ result });
        }}
        onRefuse={() => {
          onAnswer({ error: DECLINED });
        }}
      />
    </>
  );
}

/** Until when a question can be answered, where the time left does not count down. Pure. */
function describeDeadline(deadline: number | undefined, now = Date.now()): string {
  if (deadline === undefined) return 'waits until it is answered';
  return deadline <= now ? 'The time is over.' : `until ${formatWhen(deadline, now)}`;
}
