import { useCallback, useState, type ReactElement } from 'react';
import { SessionPage } from './session-page.js';
import { SideBar } from './side-bar.js';
import { usePlace } from './use-place.js';

export function App(): ReactElement {
  const { place, open, openNew, nameAgent } = usePlace();
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

  return (
    <div className="app">
      <SideBar
        current={place.sessionId}
        version={`${place.sessionId} ${String(changes)}`}
        isOpen={isListOpen}
        onOpen={openSession}
        onNewChat={newChat}
        onClose={closeList}
      />
      <SessionPage
        key={place.sessionId}
        place={place}
        onNewChat={openNew}
        onAgent={nameAgent}
        onOpen={open}
        onChange={noteChange}
        onList={() => {
          setListOpen(true);
        }}
      />
    </div>
  );
}
