import type { ReactElement } from 'react';
import { SessionPage } from './session-page.js';
import { usePlace } from './use-place.js';

export function App(): ReactElement {
  const { place, open, openNew, nameAgent } = usePlace();
  return (
    <SessionPage
      key={place.sessionId}
      place={place}
      onNewChat={openNew}
      onAgent={nameAgent}
      onOpen={open}
    />
  );
}
