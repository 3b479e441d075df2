import { useEffect, type ReactElement } from 'react';
import { ChatPage } from './chat-page.js';
import { SeparateApprovers } from './question-notes.js';
import type { Place } from './session-url.js';
import { StatusLine } from './status-line.js';
import { TopBar } from './top-bar.js';
import { useConversation } from './use-conversation.js';

interface Props {
  place: Place;
  /** Whether the page made this conversation up, so that nothing can be there yet. */
  isMade: boolean;
  onNewChat: () => void;
  onAgent: (agent: string) => void;
  onOpen: (sessionId: string) => void;
  /** Something happened that a list of conversations shows. */
  onChange: () => void;
  /** Shows the list of conversations. */
  onList: () => void;
}

/** One session, from the first look at the server on. */
export function SessionPage(props: Props): ReactElement {
  const { place, isMade, onNewChat, onAgent, onOpen, onChange, onList } = props;
  const loaded = useConversation(place);

  useEffect(() => {
    if (loaded.kind !== 'ready') return;
    const { agent, bound } = loaded.conversation.page.get();
    // The link names the agent of a new conversation. The server knows the agent of an existing one.
    if (!bound) onAgent(agent);
  }, [loaded, onAgent]);

  if (loaded.kind === 'ready') {
    const { conversation, config } = loaded;
    return (
      <SeparateApprovers value={config.separateApprovers}>
        <ChatPage
          conversation={conversation}
          config={config}
          isMade={isMade}
          onNewChat={onNewChat}
          onAgent={onAgent}
          onOpen={onOpen}
          onChange={onChange}
          onList={onList}
        />
      </SeparateApprovers>
    );
  }
  return (
    <div className="page">
      <TopBar onNewChat={onNewChat} onList={onList} />
      <main className="transcript" />
      <footer className="foot">
        {loaded.kind === 'refused' ? (
          <div className="error-line" role="alert" data-testid="error-line">
            <span>{loaded.text}</span>
            <button type="button" data-testid="try-again" onClick={loaded.again}>
              Try again
            </button>
          </div>
        ) : (
          <StatusLine status={loaded.reconnecting ? 'reconnecting' : 'loading'} />
        )}
      </footer>
    </div>
  );
}
