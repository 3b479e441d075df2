import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useState, type ReactElement, type SyntheticEvent } from 'react';
import type {
  OperatorQuestion,
  OperatorRunDetail,
  OperatorStep,
} from '../../../protocol/operator.js';
import { toWords } from '../../../protocol/shown-call.js';
import { FieldList } from '../field-list.js';
import { ResultForm, schemaOfResult, shownOfQuestion } from '../form/result-form.js';
import { SchemaForm, useEditedInput } from '../form/schema-form.js';
import { formatWhen } from '../format-when.js';
import { ChangeLabel, EditedNote, ReasonInput } from '../question-notes.js';
import { read, runPath } from './console-api.js';
import { ProblemNote, useSending } from './problem-note.js';
import { keyOf } from './waiting-choice.js';

const MORE_MS = 60 * 60_000;

interface Props {
  question: OperatorQuestion;
  runId: string;
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
  const { question, runId, mayExtend, isChosen, onChoose, onAnswer, onExtend } = props;
  const { onTouched } = props;
  const { toolName, kind, input, mayDecide, deadline } = question;
  const { shape, value, edited, onChange } = useEditedInput(question.schema, input);
  const [reason, setReason] = useState('');
  const [isTyped, setTyped] = useState(false);
  const { busy, error, send } = useSending();
  const isApproval = kind === 'approval';
  const mayApprove = isApproval && mayDecide;
  // `ResultForm` brings its own form element, and forms cannot be nested.
  const Frame = isApproval ? 'form' : 'section';
  const title = question.title ?? toWords(toolName);
  const { toolCallId, inputHash } = question;
  const key = keyOf({ runId, toolCallId, inputHash });
  const isTouched = isTyped || edited !== undefined || reason.trim() !== '';
  useLayoutEffect(() => {
    onTouched(key, isTouched);
    // The card takes the edits with it.
    return () => onTouched(key, false);
  }, [key, isTouched, onTouched]);

  const decide = (approved: boolean, why = reason): void => {
    const text = why.trim();
    void send(
      onAnswer({
        approved,
        ...(approved && edited !== undefined && { input: edited }),
        ...(text !== '' && { reason: text }),
      }),
    );
  };

  return (
    <Frame
      className="question"
      // One tool may ask several questions, so each gets a unique name.
      aria-label={`${title}, ${question.toolCallId} of ${runId}`}
      data-testid="question"
      data-tool={toolName}
      {...(isApproval && {
        onSubmit: (event: SyntheticEvent) => {
          event.preventDefault();
          if (mayApprove) decide(true);
        },
      })}
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
        {isApproval ? 'May the agent do this: ' : 'The agent asks: '}
        {title}
      </h2>
      {isChosen !== undefined && isTouched && (
        <p data-testid="alone">You have changed this one, so it is decided alone.</p>
      )}
      {question.description !== undefined && <p>{question.description}</p>}
      <EditedNote edited={question.edited} />
      {mayApprove ? (
        <div onChange={() => setTyped(true)}>
          <SchemaForm
            shape={shape}
            value={value}
            given={{ value: input }}
            disabled={busy}
            onChange={onChange}
          />
        </div>
      ) : (
        <FieldList value={shownOfQuestion(input)} />
      )}
      <WhyAsked runId={runId} />
      {!mayDecide && (
        <WithheldQuestion {...{ question, title, busy }} onWithdraw={(why) => decide(false, why)} />
      )}
      {mayDecide && isApproval && (
        <div className="acts">
          <button type="submit" className="primary" data-testid="approve" disabled={busy}>
            {edited === undefined ? 'Approve' : <ChangeLabel {...question} />}
          </button>
          <button type="button" data-testid="deny" disabled={busy} onClick={() => decide(false)}>
            Deny
          </button>
          <ReasonInput
            testId="answer-reason"
            label={`Reason for the decision about ${title}`}
            placeholder="Reason, which the agent reads"
            value={reason}
            disabled={busy}
            onChange={setReason}
          />
        </div>
      )}
      {mayDecide && !isApproval && (
        <ResultForm
          title={title}
          schema={schemaOfResult(question.schema, input)}
          readsJson
          disabled={busy}
          onResult={(result) => {
            void send(onAnswer({ result }));
          }}
          onRefuse={() => {
            void send(onAnswer({ error: 'The people in charge would not say.' }));
          }}
        />
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
              onClick={() => {
                void send(onExtend(MORE_MS));
              }}
            >
              1 more hour
            </button>
          )}
        </p>
      )}
      <ProblemNote error={error} what="The question" />
    </Frame>
  );
}

/** Reads and shows the user's request and the agent's text before the question when it is opened. */
function WhyAsked({ runId }: { runId: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const why = useQuery({
    queryKey: ['why', runId],
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
export type Answer =
  | { approved: boolean; input?: Record<string, unknown>; reason?: string }
  | { result: unknown }
  | { error: string };

interface WithheldProps {
  question: OperatorQuestion;
  title: string;
  busy: boolean;
  onWithdraw: (reason: string) => void;
}

/** Shows a question that others must decide, and lets the person whose act raised it withdraw it. */
function WithheldQuestion(props: WithheldProps): ReactElement {
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
            onClick={() => onWithdraw(reason)}
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
