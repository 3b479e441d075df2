import { useEffect, type ReactElement } from 'react';
import { ChatPage, type SessionPageProps } from './chat-page.js';
import { SeparateApprovers } from './question-notes.js';
import type { Place } from './use-place.js';
import { StatusLine } from './status-line.js';
import { TopBar } from './top-bar.js';
import { useConversation } from './use-conversation.js';

interface Props extends SessionPageProps {
  place: Place;
}

/** Loads a session and shows it. */
export function SessionPage({ place, ...page }: Props): ReactElement {
  const { onAgent, onNewChat, onList } = page;
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
        <ChatPage conversation={conversation} config={config} {...page} />
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
