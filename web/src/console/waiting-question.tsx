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
  /** The run that asks. */
  runId: string;
  mayExtend: boolean;
  /** Whether it is one of several that are decided together; absent: it cannot be. */
  isChosen: boolean | undefined;
  onChoose: (isOn: boolean) => void;
  /** Whether a person began to change the form, also into what cannot be sent. */
  onTouched: (key: string, isTouched: boolean) => void;
  /** Rejects if the answer was refused. */
  onAnswer: (answer: Answer) => Promise<void>;
  onExtend: (byMs: number) => Promise<void>;
}

/** A question of any conversation of the tenant, to be decided here by those who may. */
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
  // An answer has a form of its own, and forms are not nested.
  const Frame = isApproval ? 'form' : 'section';
  const title = question.title ?? toWords(toolName);
  const { toolCallId, inputHash } = question;
  const key = keyOf({ runId, toolCallId, inputHash });
  const isTouched = isTyped || edited !== undefined || reason.trim() !== '';
  useLayoutEffect(() => {
    onTouched(key, isTouched);
    // What was typed is gone with the card.
    return () => {
      onTouched(key, false);
    };
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
      // Of several questions by one tool each has a name of its own.
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
            onChange={(event) => {
              onChoose(event.target.checked);
            }}
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
        <div
          onChange={() => {
            setTyped(true);
          }}
        >
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
        <WithheldQuestion
          {...{ question, title, busy }}
          onWithdraw={(why) => {
            decide(false, why);
          }}
        />
      )}
      {mayDecide && isApproval && (
        <div className="acts">
          <button type="submit" className="primary" data-testid="approve" disabled={busy}>
            {edited === undefined ? 'Approve' : <ChangeLabel {...question} />}
          </button>
          <button
            type="button"
            data-testid="deny"
            disabled={busy}
            onClick={() => {
              decide(false);
            }}
          >
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

/** What the person asked for and what the agent wrote before it asked; read when it is opened. */
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
    <details
      className="why"
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
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

/** An answer as the routes of operators take it. */
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

/** A question that others decide: who they are, and the way back for the one by whose doing it is asked. */
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
