import { useState, type ReactElement } from 'react';
import type { ClientCall } from './client-call.js';
import { useCurrentConversation } from './current-conversation.js';
import { DeadlineNote } from './deadline-note.js';

/** A client tool that this page has no card for: the person answers in its place. */
export function ClientToolCard({ tool, title, toolCallId, open }: ClientCall): ReactElement {
  const { giveResult } = useCurrentConversation();
  const [answered, setAnswered] = useState(false);
  const [text, setText] = useState('');
  const disabled = answered || !open;
  return (
    <form
      className="approval"
      data-testid="client-tool-card"
      aria-label={`Answer for ${title}`}
      onSubmit={(event) => {
        event.preventDefault();
        setAnswered(true);
        giveResult(toolCallId, tool, { output: text });
      }}
    >
      <p>{open ? `The agent asks this page for ${title}.` : 'No longer needed.'}</p>
      <div className="approval-tools">
        <input
          data-testid="client-result"
          aria-label={`Result of ${title}`}
          placeholder="Your answer"
          value={text}
          disabled={disabled}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <button type="submit" className="primary" data-testid="give-result" disabled={disabled}>
          Answer
        </button>
        <button
          type="button"
          data-testid="refuse-result"
          disabled={disabled}
          onClick={() => {
            setAnswered(true);
            const errorText = 'The person at the page would not say.';
            giveResult(toolCallId, tool, { state: 'output-error', errorText });
          }}
        >
          Rather not
        </button>
      </div>
      {open && <DeadlineNote toolCallId={toolCallId} />}
    </form>
  );
}
