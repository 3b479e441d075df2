import { getToolName } from 'ai';
import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { toWords, hashInput } from '../../protocol/shown-call.js';
import { AnswerForm, labelOf, toCustomerQuestion } from './answer-form.js';
import { ApprovalForm, type Decision } from './approval-form.js';
import {
  useCurrentConversation,
  usePageState,
  useQuestion,
  useToolNames,
} from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';
import { ToolValues } from './field-list.js';
import { isObject, ownValue } from './objects.js';
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
  const kind: QuestionKind | undefined =
    part.state === 'approval-requested'
      ? 'approval'
      : isWithheld
        ? 'withheld'
        : changedCall !== undefined
          ? 'changed'
          : isAsked
            ? 'client'
            : undefined;
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
      {kind !== undefined && (
        <QuestionCard
          key={`${kind} ${(kind === 'approval' ? part.approval?.id : changedCall?.inputHash) ?? ''}`}
          kind={kind}
          title={title}
          part={part}
          open={newest}
        />
      )}
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

/**
 * A call that asks: for approval, for a client tool's result, for consent to a colleague's edits, or
 * another person, while the reader may withdraw it.
 */
type QuestionKind = 'approval' | 'client' | 'changed' | 'withheld';

const INTRODUCTIONS: Partial<Record<QuestionKind, string>> = {
  client: 'The agent needs an answer from you.',
  withheld: 'You may close this page; the answer will be here.',
};

interface QuestionProps {
  kind: QuestionKind;
  title: string;
  part: ToolPart;
  /** False if the conversation has moved on; the question is then read-only. */
  open: boolean;
}

/** Shows what a call asks, and takes the reader's answer. */
function QuestionCard({ kind, title, part, open }: QuestionProps): ReactElement {
  const { answer, controls, giveResult } = useCurrentConversation();
  const { toolCallId, input, approval } = part;
  const toolName = getToolName(part);
  const question = useQuestion(toolCallId);
  const [answered, setAnswered] = useState(false);
  const isListed = kind === 'changed' || kind === 'withheld';
  const deadline = open && <DeadlineNote toolCallId={toolCallId} />;

  /** Resolves to false if the server declined the decision. */
  const decide = async (decision: Decision): Promise<boolean> => {
    const { approved, input: edited, reason } = decision;
    if (isListed) {
      if (question === undefined) return false;
      if (kind === 'changed') return controls.answer(question, decision);
      return controls.withdraw(question, reason);
    }
    if (approval === undefined) return false;
    const shown = { toolCallId, approvalId: approval.id, inputHash: hashInput(input) };
    if (edited !== undefined) return controls.approveChanged(shown, edited, reason);
    answer(approval.id, approved, reason);
    return true;
  };

  return (
    <div className="approval" data-testid={`${kind}-card`}>
      {open && kind === 'approval' && <AskedBy question={question} />}
      {open && INTRODUCTIONS[kind] !== undefined && <p>{INTRODUCTIONS[kind]}</p>}
      {!open && <p>No longer needed.</p>}
      {kind === 'client' ? (
        <AnswerForm
          title={title}
          input={input}
          toolName={toolName}
          schema={question?.schema}
          disabled={answered || !open}
          onAnswer={(given) => {
            setAnswered(true);
            const result =
              'result' in given
                ? { output: given.result }
                : { state: 'output-error' as const, errorText: given.error };
            giveResult(toolCallId, toolName, result);
          }}
        />
      ) : (
        <ApprovalForm
          question={
            isListed
              ? { input, ...question, mayDecide: kind === 'changed' }
              : { ...question, input }
          }
          disabled={answered || !open || (isListed && question === undefined)}
          onAnswer={(decision) => {
            setAnswered(true);
            void decide(decision).then(setAnswered);
          }}
        >
          {isListed && deadline}
        </ApprovalForm>
      )}
      {!isListed && deadline}
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
  const toFields = (value: unknown) => (isObject(value) ? value : { value });
  const names = new Set([asked, given].flatMap((value) => Object.keys(toFields(value))));
  return [...names].flatMap((name) => {
    const [before = '', after = ''] = [asked, given].map((value) =>
      readable(ownValue(toFields(value), name)),
    );
    return before === after ? [] : { name, before, after };
  });
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
