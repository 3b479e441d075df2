import { createContext, useContext, type ReactElement } from 'react';
import type { PendingQuestion } from '../../protocol/replies.js';
import { FieldList } from './field-list.js';

/** Says that a person edited the agent's input, and shows the original. */
export function EditedNote({ edited }: Pick<PendingQuestion, 'edited'>): ReactElement | null {
  if (edited === undefined) return null;
  return (
    <details data-testid="edited">
      <summary>{edited.by ?? 'Somebody'} has changed it. The agent asked for</summary>
      <FieldList value={edited.from} />
    </details>
  );
}

interface HiddenProps {
  messages: readonly unknown[] | undefined;
}

/** Shows messages that the model saw and the conversation hides. */
export function HiddenNote({ messages = [] }: HiddenProps): ReactElement | null {
  if (messages.length === 0) return null;
  const count = messages.length === 1 ? '1 message' : `${String(messages.length)} messages`;
  return (
    <details>
      <summary>The model saw {count} that the conversation does not show</summary>
      {messages.map((message, at) => (
        <p key={at} className="quote">
          {textOf(message)}
        </p>
      ))}
    </details>
  );
}

/** Returns the text of a message, with files and custom parts as JSON. */
function textOf(message: unknown): string {
  const { parts = [] } = message as { parts?: { text?: string }[] };
  return parts.map((part) => part.text ?? JSON.stringify(part)).join('\n');
}

/** False on a server without sign-in, where everyone is one person. */
export const SeparateApprovers = createContext(true);

/** Label of the button that approves an edited input. If a separate approver is required, that one must agree first. */
export function ChangeLabel({
  separateApprover = false,
}: Pick<PendingQuestion, 'separateApprover'>): string {
  const isSeparate = useContext(SeparateApprovers) && separateApprover;
  return isSeparate ? 'Ask another approver for the change' : 'Approve with changes';
}

/** Names the people who must decide a call instead of the reader. Pure. */
export function describeApprovers({
  approvers = [],
  separateApprover = false,
}: Pick<PendingQuestion, 'approvers' | 'separateApprover'>): string {
  const roles = approvers.map((role) => `“${role}”`);
  if (roles.length > 0) return `A colleague with the role ${roles.join(' or ')} has to agree.`;
  return separateApprover ? 'Another person than you has to agree.' : 'A colleague has to agree.';
}
