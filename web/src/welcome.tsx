import type { ReactElement } from 'react';
import { openersFor } from './openers.js';

interface Props {
  agent: string;
  onSend: (text: string) => void;
}

export function Welcome({ agent, onSend }: Props): ReactElement {
  return (
    <div className="welcome">
      <p>
        Say something. The conversation is kept on the server: reload at any moment, or open this
        address elsewhere.
      </p>
      <div className="openers">
        {openersFor(agent).map(({ label, text }) => (
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
