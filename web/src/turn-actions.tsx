import type { ReactElement } from 'react';
import { useCurrentConversation, usePageState } from './current-conversation.js';

/** What can be done with a turn that has ended: go on where it was stopped, or do it again. */
export function TurnActions(): ReactElement {
  const { besides, regenerate } = useCurrentConversation();
  const status = usePageState((page) => page.runStatus);
  const isFailed = status === 'failed' || status === 'aborted';
  return (
    <div className="turn-actions">
      {status === 'interrupted' && (
        <button type="button" data-testid="go-on" onClick={() => void besides.goOn()}>
          Go on
        </button>
      )}
      <button type="button" data-testid="regenerate" onClick={regenerate}>
        {isFailed ? 'Try again' : 'Answer again'}
      </button>
    </div>
  );
}
