import { loadSnapshot, type FrontendSnapshot } from 'helix-temporal/ai-sdk/client';
import type { UIMessage } from 'ai';
import { useEffect, useState } from 'react';
import { Chat } from './chat.js';

/** Each conversation has an address of its own, so that it survives a reload. */
function conversationId(): string {
  const id = location.hash.slice(1) || crypto.randomUUID();
  history.replaceState(null, '', `#${id}`);
  return id;
}

export function App() {
  const [id, setId] = useState(conversationId);
  const [snapshot, setSnapshot] = useState<FrontendSnapshot<UIMessage>>();
  const [fault, setFault] = useState('');

  useEffect(() => {
    const change = () => setId(conversationId());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);

  useEffect(() => {
    let isShown = true;
    setSnapshot(undefined);
    setFault('');
    loadSnapshot<UIMessage>(id, { api: '/api/chat' }).then(
      (loaded) => isShown && setSnapshot(loaded),
      (error: Error) => isShown && setFault(error.message),
    );
    return () => {
      isShown = false;
    };
  }, [id]);

  return (
    <>
      <header>
        <h1>Desk</h1>
        <a href="#">New chat</a>
      </header>
      {fault && <p role="alert">{fault}</p>}
      {snapshot && <Chat key={id} id={id} snapshot={snapshot} />}
    </>
  );
}
