import type { ReactElement } from 'react';
import type { AgentCard } from '../../protocol/agent-card.js';

interface Props {
  agent: AgentCard | undefined;
  /** False if the address came from elsewhere and nothing was found there. */
  isFound: boolean;
  onSend: (text: string) => void;
}

export function Welcome({ agent, isFound, onSend }: Props): ReactElement {
  return (
    <div className="welcome">
      <h2>{agent?.title ?? 'New conversation'}</h2>
      {agent?.description !== undefined && <p className="about">{agent.description}</p>}
      {isFound ? (
        <p>
          The conversation is kept on the server: reload at any moment, or open this address
          elsewhere.
        </p>
      ) : (
        <p data-testid="nothing-here">
          There is nothing at this address yet, or it belongs to someone else.
        </p>
      )}
      <div className="openers">
        {agent?.openers.map(({ label, text }) => (
          <button
            type="button"
            key={label}
            onClick={() => {
              onSend(text);
            }}
          >
            {label}
          </button>
        ))}
      </div>
    </div>
  );
}
