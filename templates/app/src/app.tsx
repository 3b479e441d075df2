import { loadSnapshot, type FrontendSnapshot } from 'helix-temporal/ai-sdk/client';
import type { AgentCard, ConfigReply } from 'helix-temporal/protocol';
import { useEffect, useState } from 'react';
import { Chat } from './chat.js';

interface Loaded {
  snapshot: FrontendSnapshot;
  /** Titles of the agent and its tools. */
  agent: AgentCard | undefined;
}

/** Returns the id in the address. Each conversation has its own address, so that it survives a reload. */
function conversationId(): string {
  const id = location.hash.slice(1) || crypto.randomUUID();
  history.replaceState(null, '', `#${id}`);
  return id;
}

async function load(id: string): Promise<Loaded> {
  const [snapshot, response] = await Promise.all([
    loadSnapshot(id, { api: '/api/chat' }),
    fetch('/api/config'),
  ]);
  const config = response.ok ? ((await response.json()) as ConfigReply) : undefined;
  return { snapshot, agent: config?.cards[0] };
}

export function App() {
  const [id, setId] = useState(conversationId);
  const [loaded, setLoaded] = useState<Loaded>();
  const [fault, setFault] = useState('');

  useEffect(() => {
    const change = () => setId(conversationId());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);

  useEffect(() => {
    let isShown = true;
    setLoaded(undefined);
    setFault('');
    load(id).then(
      (found) => isShown && setLoaded(found),
      (error: Error) => isShown && setFault(error.message),
    );
    return () => {
      isShown = false;
    };
  }, [id]);

  return (
    <>
      <header>
        <h1>{loaded?.agent?.title ?? 'Help desk'}</h1>
        <a href="#">New chat</a>
      </header>
      {fault && (
        <p role="alert">
          {fault} <button onClick={() => location.reload()}>Try again</button>
        </p>
      )}
      {loaded && <Chat key={id} id={id} {...loaded} />}
    </>
  );
}
