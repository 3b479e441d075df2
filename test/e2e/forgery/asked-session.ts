import type { UIMessage } from 'ai';
import { toScript } from '../../support/chat-client.js';
import { charge } from '../../support/lab-calls.js';
import { signToken } from '../../support/people.js';
import { newSessionId, type Product } from '../../support/product.js';

export interface Person {
  headers: Record<string, string>;
}

export async function signIn(userId: string, tenantId?: string): Promise<Person> {
  const authorization = await signToken(userId, tenantId);
  return { headers: { authorization, 'content-type': 'application/json' } };
}

/** A session's snapshot without the fields that change with every read. */
export interface Shown {
  messages: UIMessage[];
  run: { runId: string; status: string };
  pending: { toolCallId: string }[];
  streamSequence: number;
}

export interface Reply {
  status: number;
  text: string;
}

/** A session of one person, whose agent waits for two approvals and a client tool. */
export interface AskedSession {
  sessionId: string;
  runId: string;
  /** The page's copy of the conversation. */
  copy: UIMessage[];
  post: (messages: unknown[], by?: Person, more?: object) => Promise<Reply>;
  request: (path: string, body: unknown, by?: Person) => Promise<Reply>;
  look: () => Promise<Shown>;
}

/** `c0` runs at once; `c1` and `c2` need an approval, `l1` the page. Then the model quotes. */
const SCRIPT = [
  {
    say: 'May I? ',
    calls: [
      { tool: 'echo', id: 'c0', args: { value: 'true' } },
      charge('c1', 5),
      charge('c2', 7),
      { tool: 'locate', id: 'l1', args: {} },
    ],
  },
  { quote: true },
];

export async function openAskedSession(
  { url }: Pick<Product, 'url'>,
  owner: Person,
  script: object[] = SCRIPT,
): Promise<AskedSession> {
  const sessionId = newSessionId();

  async function request(path: string, body: unknown, by = owner): Promise<Reply> {
    const response = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: by.headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  async function look(): Promise<Shown> {
    const response = await fetch(`${url}/api/chat/${sessionId}/snapshot`, {
      headers: owner.headers,
    });
    const { messages, run, pending, streamSequence } = (await response.json()) as Shown;
    return { messages, run, pending, streamSequence };
  }

  const session = {
    sessionId,
    request,
    look,
    post: (messages: unknown[], by = owner, more = {}) =>
      request(`chat/${sessionId}?agent=lab`, { id: sessionId, messages, ...more }, by),
  };
  const { text } = toScript(...script);
  await session.post([{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }]);
  const { messages: copy, run } = await look();
  return { ...session, copy, runId: run.runId };
}
