import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useState, type ReactElement } from 'react';
import type {
  OperatorQuestion,
  OperatorRunDetail,
  OperatorStep,
} from '../../../protocol/operator.js';
import { toWords } from '../../../protocol/shown-call.js';
import { ApprovalForm, type Decision } from '../approval-form.js';
import { FieldList } from '../field-list.js';
import { ResultForm, schemaOfResult, shownOfQuestion } from '../form/result-form.js';
import { formatWhen } from '../format-when.js';
import { useSending } from '../load-fault.js';
import { read, runPath } from './console-api.js';
import { ProblemNote } from './problem-note.js';

const MORE_MS = 60 * 60_000;

interface Props {
  question: OperatorQuestion;
  runId: string;
  /** Names the call in `onTouched`. */
  callKey: string;
  mayExtend: boolean;
  /** True if the call is chosen for a common decision; absent if it cannot be. */
  isChosen: boolean | undefined;
  onChoose: (isOn: boolean) => void;
  /** Called when the form becomes edited or pristine, even if its values are invalid. */
  onTouched: (key: string, isTouched: boolean) => void;
  /** Rejects if the server refused the answer. */
  onAnswer: (answer: Answer) => Promise<void>;
  onExtend: (byMs: number) => Promise<void>;
}

/** Shows a question of any of the tenant's conversations; people who may decide answer it here. */
export function WaitingQuestion(props: Props): ReactElement {
  const { question, runId, callKey, mayExtend, isChosen } = props;
  const { onChoose, onTouched, onAnswer, onExtend } = props;
  const { toolName, toolCallId, kind, input, mayDecide, deadline } = question;
  const [isTouched, setTouched] = useState(false);
  const { busy, error, send } = useSending();
  const title = question.title ?? toWords(toolName);
  useLayoutEffect(() => {
    onTouched(callKey, isTouched);
    // The card takes the edits with it.
    return () => onTouched(callKey, false);
  }, [callKey, isTouched, onTouched]);

  return (
    <section
      className="question"
      // One tool may ask several questions, so each gets a unique name.
      aria-label={`${title}, ${toolCallId} of ${runId}`}
      data-testid="question"
      data-tool={toolName}
    >
      <h2>
        {isChosen !== undefined && (
          <input
            type="checkbox"
            aria-label={`Choose ${title}, ${runId}`}
            data-testid="choose"
            checked={isChosen && !isTouched}
            disabled={isTouched}
            onChange={(event) => onChoose(event.target.checked)}
          />
        )}{' '}
        {kind === 'approval' ? 'May the agent do this: ' : 'The agent asks: '}
        {title}
      </h2>
      {isChosen !== undefined && isTouched && (
        <p data-testid="alone">You have changed this one, so it is decided alone.</p>
      )}
      {question.description !== undefined && <p>{question.description}</p>}
      {mayDecide && kind === 'client' ? (
        <>
          <FieldList value={shownOfQuestion(input)} />
          <WhyAsked runId={runId} toolCallId={toolCallId} />
          <ResultForm
            title={title}
            schema={schemaOfResult(question.schema, input)}
            readsJson
            disabled={busy}
            onResult={(result) => void send(onAnswer({ result }))}
            onRefuse={() => void send(onAnswer({ error: 'The people in charge would not say.' }))}
          />
        </>
      ) : (
        <ApprovalForm
          question={question}
          title={title}
          disabled={busy}
          deciders={describeDeciders(question)}
          mayWithdraw={question.mayWithdraw === true}
          onTouched={setTouched}
          onAnswer={(decision) => void send(onAnswer(decision))}
        >
          <WhyAsked runId={runId} toolCallId={toolCallId} />
        </ApprovalForm>
      )}
      {deadline !== undefined && (
        <p className="deadline">
          Until {formatWhen(deadline)}.
          {mayExtend && (
            <button
              type="button"
              className="plain"
              data-testid="extend"
              disabled={busy}
              onClick={() => void send(onExtend(MORE_MS))}
            >
              1 more hour
            </button>
          )}
        </p>
      )}
      <ProblemNote error={error} what="The question" />
    </section>
  );
}

/** Reads and shows the user's request and the agent's text before the question when it is opened. */
function WhyAsked({ runId, toolCallId }: Record<'runId' | 'toolCallId', string>): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const why = useQuery({
    // A later question of the same run has another reason.
    queryKey: ['why', runId, toolCallId],
    enabled: isOpen,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const { steps } = await read<OperatorRunDetail>(runPath(runId), { signal });
      const last = steps.at(-1)?.step ?? 1;
      return read<OperatorStep>(runPath(runId, `/steps/${String(last)}`), { signal });
    },
  });
  return (
    <details className="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary data-testid="why">Why it is asked</summary>
      {why.isLoading && <p role="status">Loading…</p>}
      <ProblemNote error={why.error} what="The run" />
      {why.data !== undefined && (
        <div data-testid="why-text">
          <p className="quote">
            {why.data.prompt === '' ? 'No message is shown.' : why.data.prompt}
          </p>
          <p>{why.data.text === '' ? 'The agent wrote nothing before it asked.' : why.data.text}</p>
        </div>
      )}
    </details>
  );
}

/** Body of an answer for the operator routes. */
export type Answer = Decision | { result: unknown } | { error: string };

/** Names the people who must decide instead of the reader. Pure. */
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
