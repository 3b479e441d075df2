import { getToolName } from 'ai';
import { useState, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { ApprovalCard } from './approval-card.js';
import { ChoiceCard } from './choice-card.js';
import type { ClientCall } from './client-call.js';
import { usePageState, useToolNames, useCurrentConversation } from './current-conversation.js';
import { labelOf, toCustomerQuestion } from './customer-question.js';
import { DeadlineNote } from './deadline-note.js';
import { DecisionNote } from './decision-note.js';
import { FieldList } from './field-list.js';
import { DECLINED, ResultForm } from './form/result-form.js';
import { schemaOfResult, shownOfQuestion } from './form/schema-of-result.js';
import { InboxApproval } from './inbox-approval.js';
import { decisionOf } from './shown-decision.js';
import { SubAgentCard } from './sub-agent-card.js';
import {
  findChanged,
  isPageCall,
  toolCardState,
  waitsForColleague,
  type ToolCardState,
  type ToolPart,
} from './tool-state.js';
import { ToolValues } from './tool-values.js';
import { WithheldCard } from './withheld-card.js';

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
  // What an earlier message asked is not asked any more, whatever became of it.
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
      {changedCall !== undefined && (
        <ChangedCall key={changedCall.inputHash} question={changedCall} />
      )}
      {isWithheld && <WithheldCard toolCallId={part.toolCallId} input={part.input} />}
      {isAsked && question !== undefined && <ChoiceCard asked={question} {...call} />}
      {isAsked && question === undefined && <ClientToolCard key={part.toolCallId} {...call} />}
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

/** A call whose input a colleague has changed: another person has to agree. */
function ChangedCall({ question }: { question: PendingQuestion }): ReactElement {
  const { controls } = useCurrentConversation();
  const [answered, setAnswered] = useState(false);
  return (
    <div className="approval" data-testid="changed-call">
      <InboxApproval
        question={question}
        disabled={answered}
        onAnswer={(answer) => {
          setAnswered(true);
          void controls.answer(question, answer).then(setAnswered);
        }}
      />
    </div>
  );
}

/** A client tool that this page has no card for: the person answers in its place. */
function ClientToolCard(call: ClientCall): ReactElement {
  const { tool, title, toolCallId, input, open } = call;
  const { giveResult } = useCurrentConversation();
  const question = usePageState(({ pending }) =>
    pending.find((each) => each.toolCallId === toolCallId),
  );
  const [answered, setAnswered] = useState(false);
  const shown = shownOfQuestion(input);
  return (
    <div className="approval" data-testid="client-tool-card">
      <p>{open ? 'The agent needs an answer from you.' : 'No longer needed.'}</p>
      {shown !== undefined && <FieldList value={shown} />}
      <ResultForm
        title={title}
        schema={schemaOfResult(question?.schema, input)}
        disabled={answered || !open}
        onResult={(output) => {
          setAnswered(true);
          giveResult(toolCallId, tool, { output });
        }}
        onRefuse={() => {
          setAnswered(true);
          giveResult(toolCallId, tool, { state: 'output-error', errorText: DECLINED });
        }}
      />
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </div>
  );
}
