import type { ReactElement } from 'react';
import { useCurrentConversation, usePageState } from './current-conversation.js';

/** Actions on a turn that has ended: continue it where it was stopped, or repeat it. */
export function TurnActions(): ReactElement {
  const { controls, regenerate } = useCurrentConversation();
  const status = usePageState((page) => page.runStatus);
  const isFailed = status === 'failed' || status === 'aborted';
  return (
    <div className="turn-actions">
      {status === 'interrupted' && (
        <button type="button" data-testid="go-on" onClick={() => void controls.resume()}>
          Continue
        </button>
      )}
      <button type="button" data-testid="regenerate" onClick={regenerate}>
        {isFailed ? 'Try again' : 'Answer again'}
      </button>
    </div>
  );
}
