import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react';
import { SessionPage } from './session-page.js';
import { SideBar } from './side-bar.js';
import { TopBar } from './top-bar.js';
import { usePlace } from './use-place.js';

export function App(): ReactElement {
  const { place, isMade, open, openNew, nameAgent } = usePlace();
  const [isListOpen, setListOpen] = useState(false);
  const [changes, setChanges] = useState(0);

  const closeList = useCallback(() => {
    setListOpen(false);
  }, []);
  const noteChange = useCallback(() => {
    setChanges((before) => before + 1);
  }, []);
  const openSession = useCallback(
    (sessionId: string) => {
      setListOpen(false);
      open(sessionId);
    },
    [open],
  );
  const newChat = useCallback(() => {
    setListOpen(false);
    openNew();
  }, [openNew]);

  const opener = useRef<Element>(null);
  const openList = useCallback(() => {
    opener.current = document.activeElement;
    setListOpen(true);
  }, []);
  // Focus returns to the opener, unless another conversation is shown now.
  useEffect(() => {
    if (isListOpen || !(opener.current instanceof HTMLElement)) return;
    opener.current.focus();
    opener.current = null;
  }, [isListOpen]);

  return (
    <div className="app">
      <SideBar
        current={place?.sessionId}
        version={`${place?.sessionId ?? ''} ${String(changes)}`}
        isOpen={isListOpen}
        onOpen={openSession}
        onNewChat={newChat}
        onClose={closeList}
      />
      <div className="beside-list" inert={isListOpen}>
        {place === undefined ? (
          <NoConversation onNewChat={openNew} onList={openList} />
        ) : (
          <SessionPage
            key={place.sessionId}
            place={place}
            isMade={isMade}
            onNewChat={openNew}
            onAgent={nameAgent}
            onOpen={open}
            onChange={noteChange}
            onList={openList}
          />
        )}
      </div>
    </div>
  );
}

interface Props {
  onNewChat: () => void;
  /** Opens the list of conversations. */
  onList: () => void;
}

/** Shown for an address that was cut off or mistyped. */
function NoConversation({ onNewChat, onList }: Props): ReactElement {
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
