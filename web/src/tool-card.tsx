import { getToolName } from 'ai';
import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { toWords, hashInput } from '../../protocol/shown-call.js';
import { AnswerForm } from './answer-form.js';
import { ApprovalForm, type Decision } from './approval-form.js';
import {
  useCurrentConversation,
  usePageState,
  useQuestion,
  useToolNames,
} from './current-conversation.js';
import { labelOf, toCustomerQuestion } from './customer-question.js';
import { DeadlineNote } from './deadline-note.js';
import { ToolValues } from './field-list.js';
import { decisionOf, describeDecision, type ShownDecision } from './shown-decision.js';
import { SubAgentCard } from './sub-agent-card.js';
import {
  findChanged,
  isPageCall,
  readable,
  toolCardState,
  waitsForColleague,
  type ToolCardState,
  type ToolPart,
} from './tool-state.js';
import { titleOfAgent } from './tool-names.js';

const WORDS: Record<ToolCardState | 'left' | 'withheld', string> = {
  withheld: 'waiting for a colleague',
  running: 'running',
  waiting: 'waiting for you',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  left: 'not answered',
};

interface Props {
  part: ToolPart;
  newest: boolean;
}

export function ToolCard({ part, newest }: Props): ReactElement {
  const name = getToolName(part);
  const { titleOf, agentOf } = useToolNames();
  const pending = usePageState((page) => page.pending);
  const changed = usePageState((page) => page.changed);
  const decided = usePageState((page) => page.decided);
  const agent = agentOf(name);
  if (agent !== undefined) return <SubAgentCard part={part} tool={name} name={agent} />;

  const asked = pending.find(({ toolCallId }) => toolCallId === part.toolCallId);
  const title = asked?.title ?? part.title ?? titleOf(name);
  const isAsked = isPageCall(part, pending);
  const changedCall = newest ? findChanged(part, pending) : undefined;
  const now = isAsked || changedCall !== undefined ? 'waiting' : toolCardState(part);
  // Questions of an earlier message are no longer open, however they ended.
  const isLeft = !newest && (now === 'waiting' || now === 'running');
  const isWithheld = newest && waitsForColleague(part, pending);
  const state = isLeft ? 'left' : isWithheld ? 'withheld' : now;
  const question = toCustomerQuestion(name, part.input);
  const call = { tool: name, title, toolCallId: part.toolCallId, input: part.input, open: newest };
  const decision = decisionOf(part, { changed, decided });
  const chosen = question && 'output' in part ? labelOf(question, part.output) : undefined;
  return (
    <div
      role="group"
      className={`tool ${state}`}
      aria-label={`${title}, ${WORDS[state]}`}
      data-testid="tool-card"
      data-tool={name}
      data-state={state}
    >
      <header>
        <span className="tool-name">{title}</span>
        <span className="tool-state">{WORDS[state]}</span>
      </header>
      {part.state === 'approval-requested' && (
        <ApprovalCard key={part.approval.id} approvalId={part.approval.id} {...call} />
      )}
      {(isWithheld || changedCall !== undefined) && (
        <PendingCall key={changedCall?.inputHash} isWithheld={isWithheld} {...call} />
      )}
      {isAsked && <ClientToolCard key={part.toolCallId} {...call} />}
      {question !== undefined && chosen !== undefined && (
        <p data-testid="chosen">
          {question.question} <strong>{chosen}</strong>
        </p>
      )}
      {now !== 'waiting' && decision !== undefined && (
        <DecisionNote input={part.input} decision={decision} />
      )}
      {now !== 'waiting' && !isWithheld && chosen === undefined && part.input !== undefined && (
        <ToolValues
          part={part}
          decision={decision}
          open={state === 'failed' || state === 'denied'}
        />
      )}
    </div>
  );
}

interface PendingCallProps {
  toolCallId: string;
  input: unknown;
  /** True if another person must decide; the requester may withdraw the call. */
  isWithheld: boolean;
}

/** Shows a call that another person decides, or whose input a colleague has edited, so that the reader must agree. */
function PendingCall({ toolCallId, input, isWithheld }: PendingCallProps): ReactElement {
  const { controls } = useCurrentConversation();
  const question = useQuestion(toolCallId);
  const [answered, setAnswered] = useState(false);
  const act = (asked: PendingQuestion, answer: Decision): Promise<boolean> =>
    isWithheld ? controls.withdraw(asked, answer.reason) : controls.answer(asked, answer);
  return (
    <div className="approval" data-testid={isWithheld ? 'withheld-card' : 'changed-call'}>
      {isWithheld && <p>You may close this page; the answer will be here.</p>}
      <ApprovalForm
        question={{ ...question, input: question?.input ?? input, mayDecide: !isWithheld }}
        disabled={answered || question === undefined}
        onAnswer={(answer) => {
          if (question === undefined) return;
          setAnswered(true);
          void act(question, answer).then(setAnswered);
        }}
      >
        <DeadlineNote toolCallId={toolCallId} />
      </ApprovalForm>
    </div>
  );
}

interface ClientCall {
  tool: string;
  title: string;
  toolCallId: string;
  input: unknown;
  /** False if the conversation has moved on; the call is then read-only. */
  open: boolean;
}

/** Shows a client tool's call; the person gives its result. */
function ClientToolCard({ tool, title, toolCallId, input, open }: ClientCall): ReactElement {
  const { giveResult } = useCurrentConversation();
  const question = useQuestion(toolCallId);
  const [answered, setAnswered] = useState(false);
  return (
    <div className="approval" data-testid="client-tool-card">
      <p>{open ? 'The agent needs an answer from you.' : 'No longer needed.'}</p>
      <AnswerForm
        title={title}
        input={input}
        toolName={tool}
        schema={question?.schema}
        disabled={answered || !open}
        onAnswer={(answer) => {
          setAnswered(true);
          const result =
            'result' in answer
              ? { output: answer.result }
              : { state: 'output-error' as const, errorText: answer.error };
          giveResult(toolCallId, tool, result);
        }}
      />
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </div>
  );
}

interface DecisionNoteProps {
  /** The model's original input. */
  input: unknown;
  decision: ShownDecision;
}

/** Shows the decision about a call and the edits to its input. */
function DecisionNote({ input, decision }: DecisionNoteProps): ReactElement {
  const { changed } = decision;
  const changes = changed === undefined ? [] : describeChanges(input, changed.input);
  return (
    <div className="decision" data-testid="decision">
      <p>{describeDecision(decision)}</p>
      {changes.length > 0 && (
        <ul>
          {changes.map(({ name, before, after }) => (
            <li key={name}>
              {toWords(name)}: <del>{before}</del> <ins>{after}</ins>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Describes the edited fields of an input. Pure. */
function describeChanges(
  asked: unknown,
  given: unknown,
): { name: string; before: string; after: string }[] {
  const [old, now] = [toFields(asked), toFields(given)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names.flatMap((name) => {
    const [before, after] = [readable(old[name]), readable(now[name])];
    return before === after ? [] : { name, before, after };
  });
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  const isFields = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isFields ? (value as Record<string, unknown>) : { value };
}

interface ApprovalProps {
  approvalId: string;
  toolCallId: string;
  input: unknown;
  /** False if the conversation has moved on; the question is then read-only. */
  open: boolean;
}

function ApprovalCard({ approvalId, toolCallId, input, open }: ApprovalProps): ReactElement {
  const { answer, controls } = useCurrentConversation();
  const question = useQuestion(toolCallId);
  const [answered, setAnswered] = useState(false);
  return (
    <div className="approval" data-testid="approval-card">
      {open ? <AskedBy question={question} /> : <p>No longer needed.</p>}
      <ApprovalForm
        question={{ ...question, input }}
        disabled={answered || !open}
        onAnswer={({ approved, input: edited, reason }) => {
          setAnswered(true);
          if (edited === undefined) answer(approvalId, approved, reason);
          else {
            const shown = {
              toolCallId,
              approvalId,
              inputHash: hashInput(input),
            };
            void controls.approveChanged(shown, edited, reason).then(setAnswered);
          }
        }}
      />
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </div>
  );
}

/** Names the agent that asks for approval and the action it would take. */
function AskedBy({ question }: { question: PendingQuestion | undefined }): ReactElement {
  const { cards } = useCurrentConversation();
  const own = usePageState((page) => page.agent);
  const agent = titleOfAgent(cards, question?.agent ?? own);
  return (
    <div className="asked-by" data-testid="asked-by">
      <p>
        <strong>{agent}</strong> asks for your approval. You can change the values first.
      </p>
      {question?.description !== undefined && (
        <details>
          <summary>What this does</summary>
          <p>{question.description}</p>
        </details>
      )}
    </div>
  );
}
