import { useCallback, useEffect, useState, type ReactElement } from 'react';
import { SideBar } from './side-bar.js';
import { TopBar } from './top-bar.js';
import { usePlace, type Place } from './use-place.js';
import { ChatPage, type SessionPageProps } from './chat-page.js';
import { SeparateApprovers } from './question-notes.js';
import { StatusLine } from './status-line.js';
import { useConversation } from './use-conversation.js';

export function App(): ReactElement {
  const { place, isMade, open, openNew, nameAgent } = usePlace();
  const [isListOpen, setListOpen] = useState(false);
  const [changes, setChanges] = useState(0);

  const noteChange = useCallback(() => setChanges((before) => before + 1), []);

  return (
    <div className="app">
      <SideBar
        current={place?.sessionId}
        version={`${place?.sessionId ?? ''} ${String(changes)}`}
        isOpen={isListOpen}
        onToggle={setListOpen}
        onOpen={open}
        onNewChat={openNew}
      />
      <div className="beside-list" inert={isListOpen}>
        {place === undefined ? (
          <NoConversation onNewChat={openNew} />
        ) : (
          <SessionPage
            key={place.sessionId}
            place={place}
            isMade={isMade}
            onNewChat={openNew}
            onAgent={nameAgent}
            onOpen={open}
            onChange={noteChange}
          />
        )}
      </div>
    </div>
  );
}

/** Shown for an address that was cut off or mistyped. */
function NoConversation({ onNewChat }: { onNewChat: () => void }): ReactElement {
  return (
    <div className="page">
      <TopBar onNewChat={onNewChat} />
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

interface SessionProps extends SessionPageProps {
  place: Place;
}

/** Loads a session and shows it. */
function SessionPage({ place, ...page }: SessionProps): ReactElement {
  const { onAgent, onNewChat } = page;
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
      <TopBar onNewChat={onNewChat} />
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
