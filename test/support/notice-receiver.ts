import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { listen } from './listen.js';
import { until } from './until.js';

export interface ReceivedNotice {
  id: string;
  body: string;
  type: string;
  data: Record<string, unknown>;
  headers: IncomingMessage['headers'];
}

/** A webhook receiver: a real server whose answers the test decides. */
export interface NoticeReceiver {
  readonly url: string;
  /** Accepted notices, in order. */
  readonly taken: ReceivedNotice[];
  /** Number of all attempts, including refused ones. */
  attempts: number;
  /** Maximum of concurrently hanging attempts. */
  mostHanging: number;
  /** `webhook-id` of each attempt, in order. */
  readonly ids: string[];
  /** Decides the reply. Default: 204. Undefined: never reply. */
  answer: (attempt: number) => { status: number; headers?: Record<string, string> } | undefined;
  /** Waits for the first notice of this type about a session and verifies its signature. */
  untilTaken: (sessionId: string, type: string, withinMs?: number) => Promise<ReceivedNotice>;
  /** Closes the connections of unanswered attempts. */
  hangUp: () => void;
  close: () => Promise<void>;
}

/** @param secret if set, each attempt must be signed with it */
export async function startReceiver(secret?: string): Promise<NoticeReceiver> {
  const taken: ReceivedNotice[] = [];
  const ids: string[] = [];
  const receiver = {
    attempts: 0,
    mostHanging: 0,
    answer: () => ({ status: 204 }),
  } as unknown as NoticeReceiver;
  let hanging = 0;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    receiver.attempts += 1;
    const { headers } = request;
    ids.push(String(headers['webhook-id']));
    if (secret !== undefined) new Webhook(secret).verify(body, headers as Record<string, string>);
    const answer = receiver.answer(receiver.attempts);
    if (answer === undefined) {
      hanging += 1;
      receiver.mostHanging = Math.max(receiver.mostHanging, hanging);
      response.once('close', () => (hanging -= 1));
      return;
    }
    if (answer.status < 300) {
      const { type = '', data = {} } = JSON.parse(body) as Partial<ReceivedNotice>;
      taken.push({ id: String(headers['webhook-id']), body, type, data, headers });
    }
    response.writeHead(answer.status, answer.headers).end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => {
      response.writeHead(400).end();
    });
  });
  const { url, close } = await listen(server);
  return Object.assign(receiver, {
    url: `${url}/hook`,
    taken,
    ids,
    untilTaken: (sessionId: string, type: string, withinMs?: number) =>
      until(
        `${type} arrives`,
        async () =>
          taken.find((each) => each.type === type && each.data['sessionId'] === sessionId),
        withinMs,
      ),
    hangUp: () => server.closeAllConnections(),
    close,
  });
}
