import { createContext, useContext, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/http.js';
import { FieldList } from './field-list.js';

/** Says that a person has changed what the agent asked for, and from what. */
export function EditedNote({ edited }: Pick<PendingQuestion, 'edited'>): ReactElement | null {
  if (edited === undefined) return null;
  return (
    <details className="edited" data-testid="edited">
      <summary>{edited.by ?? 'Somebody'} has changed it. The agent asked for</summary>
      <FieldList value={edited.from} />
    </details>
  );
}

/** Says that the model saw more than the conversation shows, and shows it. */
export function HiddenNote({
  messages = [],
}: {
  messages?: readonly unknown[] | undefined;
}): ReactElement | null {
  if (messages.length === 0) return null;
  const count = messages.length === 1 ? '1 message' : `${String(messages.length)} messages`;
  return (
    <details className="hidden-messages" data-testid="hidden-messages">
      <summary>The model saw {count} that the conversation does not show</summary>
      {messages.map((message, at) => (
        <p key={at} className="quote">
          {textOf(message)}
        </p>
      ))}
    </details>
  );
}

/** What a message says; files and the page's own parts as JSON. */
function textOf(message: unknown): string {
  const { parts = [] } = message as { parts?: { text?: string }[] };
  return parts.map((part) => part.text ?? JSON.stringify(part)).join('\n');
}

/** False on a server without sign-in, where everyone is one person. */
export const SeparateApprovers = createContext(true);

/** What approving with changes does: where another person has to agree, a change is a question to that one. */
export function ChangeLabel({
  separateApprover = false,
}: Pick<PendingQuestion, 'separateApprover'>): string {
  const isSeparate = useContext(SeparateApprovers) && separateApprover;
  return isSeparate ? 'Ask another approver for the change' : 'Approve with changes';
}

/** Who has to decide about a call in place of the one who reads this. Pure. */
export function describeApprovers({
  approvers = [],
  separateApprover = false,
}: Pick<PendingQuestion, 'approvers' | 'separateApprover'>): string {
  const roles = approvers.map((role) => `“${role}”`);
  if (roles.length > 0) return `A colleague with the role ${roles.join(' or ')} has to agree.`;
  return separateApprover ? 'Another person than you has to agree.' : 'A colleague has to agree.';
}

interface Props {
  testId: string;
  /** What screen readers call it. */
  label: string;
  placeholder: string;
  value: string;
  disabled: boolean;
  onChange: (reason: string) => void;
}

/** Why a person decides as they do, in their own words: the agent reads it. */
export function ReasonInput(props: Props): ReactElement {
  const { testId, label, placeholder, value, disabled, onChange } = props;
  return (
    <input
      data-testid={testId}
      aria-label={`${label} (optional)`}
      placeholder={placeholder}
      value={value}
      disabled={disabled}
      onChange={(event) => {
        onChange(event.target.value);
      }}
    />
  );
}
