import { useState, type ReactElement } from 'react';
import type { ClientCall } from './client-call.js';
import { useCurrentConversation } from './current-conversation.js';
import type { CustomerQuestion } from './customer-question.js';
import { DeadlineNote } from './deadline-note.js';

interface Props extends ClientCall {
  asked: CustomerQuestion;
}

/** The tool `askCustomer`, carried out: a question with a button for each option. */
export function ChoiceCard({ asked, toolCallId, tool, open }: Props): ReactElement {
  const { giveResult } = useCurrentConversation();
  const [answered, setAnswered] = useState(false);
  return (
    <fieldset className="choice" data-testid="choice-card" disabled={answered || !open}>
      <legend>{asked.question}</legend>
      {asked.options.map(({ id, label, detail }) => (
        <button
          type="button"
          key={id}
          data-testid={`choose-${id}`}
          onClick={() => {
            setAnswered(true);
            giveResult(toolCallId, tool, { output: { chosen: id } });
          }}
        >
          <strong>{label}</strong>
          {detail !== undefined && <span>{detail}</span>}
        </button>
      ))}
      {open ? <DeadlineNote toolCallId={toolCallId} /> : <p>No longer needed.</p>}
    </fieldset>
  );
}
