import { useState, type ReactElement } from 'react';
import { useCurrentConversation } from './current-conversation.js';

/** An approval that another person has to give; the one who asked may withdraw it. */
export function WithheldCard({ toolCallId }: { toolCallId: string }): ReactElement {
  const { controls } = useCurrentConversation();
  const [withdrawn, setWithdrawn] = useState(false);
  return (
    <div className="approval" data-testid="withheld-card">
      <p>A colleague has to agree. You may close this page; the answer will be here.</p>
      <div className="approval-tools">
        <button
          type="button"
          data-testid="withdraw"
          disabled={withdrawn}
          onClick={() => {
            setWithdrawn(true);
            void controls.withdraw(toolCallId).then(setWithdrawn);
          }}
        >
          Withdraw
        </button>
      </div>
    </div>
  );
}
