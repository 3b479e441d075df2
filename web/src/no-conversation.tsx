import type { ReactElement } from 'react';
import { TopBar } from './top-bar.js';

interface Props {
  onNewChat: () => void;
  /** Shows the list of conversations. */
  onList: () => void;
}

/** Where an address leads that was cut, or mistyped. */
export function NoConversation({ onNewChat, onList }: Props): ReactElement {
  return (
    <div className="page">
      <TopBar onNewChat={onNewChat} onList={onList} />
      <main className="transcript">
        <div className="messages">
          <div className="welcome" data-testid="no-conversation">
            <h2>This address names no conversation</h2>
            <p>It may have been cut or mistyped. Your conversations are in the list.</p>
            <button
              type="button"
              className="primary"
              data-testid="begin-new-chat"
              onClick={onNewChat}
            >
              New chat
            </button>
          </div>
        </div>
      </main>
    </div>
  );
}
