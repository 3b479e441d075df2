// One React page of a web app: with the stock hook on the stock transport, or with this package's.
/* global document, window */
import { HEADERS_OF, KITS } from './kits.mjs';
import { createWire } from './wire.mjs';

const ROUNDS_AT_REST = 3;
const NOTICE_MS = 10;
// If other files run servers at the same time, Temporal may start an activity tens of seconds late.
const REST_WITHIN_MS = 90_000;

/** Creates a page that is loading; `mount` shows it, with or without a snapshot's messages. */
export function createPage({ client, own, kit, url, sessionId, agent, jar, tell }) {
  const { React, ReactDomClient } = client;
  const errors = [];
  const data = [];
  let chat;
  let root;
  let snapshot;
  let isTold = true;

  // Changes within a moment share one notice, since each notice has the whole view.
  const onChange = () => {
    if (!isTold) return;
    isTold = false;
    setTimeout(report, NOTICE_MS);
  };
  const wire = createWire({ jar, onChange });

  function report() {
    isTold = true;
    tell(look());
  }

  function look() {
    return {
      status: chat?.status ?? 'unmounted',
      messages: JSON.parse(JSON.stringify(chat?.messages ?? [])),
      errors,
      data,
      requests: wire.requests.map(({ method, url, status, end, isHeld }) => {
        return { method, url, status, end, isHeld };
      }),
    };
  }

  function Page({ useChat, options }) {
    chat = useChat(options);
    React.useEffect(onChange);
    return null;
  }

  const isBusy = () =>
    chat.status === 'submitted' ||
    chat.status === 'streaming' ||
    wire.requests.some(({ end }) => end === null);

  return {
    look,
    readLog: () => wire.requests,
    limit: (limits) => void Object.assign(wire.limits, limits),
    drop: () => wire.drop(),
    async loadSnapshot() {
      const path = `${url}/api/chat/${sessionId}/snapshot`;
      const cookie = jar.read(path);
      const headers = { ...HEADERS_OF[kit], ...(cookie !== '' && { cookie }) };
      const response = await fetch(path, { headers });
      if (response.status !== 200) throw new Error(`snapshot: ${response.status}`);
      jar.keep(response);
      snapshot = await response.json();
      return snapshot;
    },
    mount(given) {
      const { fetch } = wire;
      const { useChat, ...brought } = KITS[kit]({ client, own, kit, url, agent, fetch, snapshot });
      const options = {
        id: sessionId,
        messages: snapshot?.messages ?? [],
        resume: given?.resume ?? snapshot !== undefined,
        ...brought,
        ...(given?.answers && { toolHandlers: toHandlers(given.answers) }),
        onError: ({ message }) => errors.push(message),
        onData: ({ type }) => data.push(type),
      };
      root = ReactDomClient.createRoot(document.createElement('div'));
      root.render(React.createElement(Page, { useChat, options }));
      return untilTrue(() => chat !== undefined && (!options.resume || wire.requests.length > 0));
    },
    /** Performs a person's action without waiting for the reply. */
    act(name, ...args) {
      void Promise.resolve(chat[name](...args)).catch(({ message }) => errors.push(message));
    },
    /** Brings the page back to the foreground. */
    show: () => document.dispatchEvent(new window.Event('visibilitychange')),
    /**
     * Resolves when the page is idle. A page sends automatically at the end of a response, so it
     * must be at rest several times, with a round trip to the server between.
     */
    async untilRests() {
      const giveUpAt = Date.now() + REST_WITHIN_MS;
      for (let rounds = 0; rounds < ROUNDS_AT_REST;) {
        const before = wire.requests.length;
        await fetch(`${url}/healthz`).then((response) => response.arrayBuffer());
        await new Promise((resolve) => setTimeout(resolve, 5));
        rounds = isBusy() || wire.requests.length > before ? 0 : rounds + 1;
        if (Date.now() > giveUpAt) throw new Error(`no rest: ${JSON.stringify(look())}`);
      }
    },
    /** Leaves the page as a browser does, which cuts open responses. */
    close() {
      root?.unmount();
      wire.drop();
    },
  };
}

/** Creates handlers that return fixed answers. */
function toHandlers(answers) {
  return Object.fromEntries(Object.entries(answers).map(([tool, answer]) => [tool, () => answer]));
}

async function untilTrue(ask) {
  while (!ask()) await new Promise((resolve) => setImmediate(resolve));
}
