import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { UIMessage } from 'ai';
import type { FrontendSnapshot } from '../../protocol/replies.js';
import type { Client } from './clients.js';

const PROGRAM = fileURLToPath(new URL('page/browser-process.mjs', import.meta.url));

/** A page's current display and its history. */
export interface PageView {
  status: 'unmounted' | 'submitted' | 'streaming' | 'ready' | 'error';
  messages: UIMessage[];
  errors: string[];
  /** Types of the data parts that `onData` received. */
  data: string[];
  requests: PageRequest[];
}

export interface PageRequest {
  method: string;
  url: string;
  status: number | null;
  /**
   * Null while open; `cut` if the server closed the connection early, `dropped` if the test did.
   */
  end: null | 'ended' | 'cut' | 'dropped' | 'aborted' | 'refused';
  /** True if the wire is held: more has arrived than the page was given. */
  isHeld: boolean;
}

export interface LoggedRequest extends PageRequest {
  body?: { messages: UIMessage[] };
  /** The raw response, including bytes that the page was not given. */
  raw: string;
}

/** Hook and transport of a page: the stock ones, with and without cookies, or this package's. */
export type Kit = 'stock' | 'no-cookies' | 'static-parts' | 'resumable' | 'agent-server';

/** Actions of a person on a page, as methods of the stock hook. */
export type PageAct =
  | 'sendMessage'
  | 'addToolApprovalResponse'
  | 'addToolOutput'
  | 'regenerate'
  | 'resumeStream'
  | 'retry'
  | 'stop';

export interface MountOptions {
  resume?: boolean;
  /** Results of the page's own handlers for client tools, by name; stock pages have none. */
  answers?: Record<string, unknown>;
}

export interface BrowserPage {
  readonly sessionId: string;
  readonly view: PageView;
  act: (name: PageAct, ...args: object[]) => Promise<void>;
  loadSnapshot: () => Promise<FrontendSnapshot<Record<string, unknown>, UIMessage>>;
  /** Mounts the page with its loaded snapshot's messages, if any, and then resumes by default. */
  mount: (options?: MountOptions) => Promise<void>;
  limit: (limits: { parts?: number; twice?: boolean }) => Promise<void>;
  drop: () => Promise<void>;
  show: () => Promise<void>;
  untilRests: () => Promise<void>;
  close: () => Promise<void>;
  readLog: () => Promise<LoggedRequest[]>;
}

/** A process with the real packages of one version. */
export interface Browser {
  readonly client: Client;
  open: (page: { kit: Kit; url: string; sessionId: string; agent: string }) => Promise<BrowserPage>;
  /** Validates parts by this version's schema; returns its complaints. */
  validate: (parts: object[]) => Promise<string[]>;
  close: () => Promise<void>;
}

type Report = { isUp: true } | { page: number; view: PageView } | Reply;
interface Reply {
  id: number;
  result?: unknown;
  error?: string;
}

const NOTHING_YET: PageView = {
  status: 'unmounted',
  messages: [],
  errors: [],
  data: [],
  requests: [],
};

export async function startBrowser(client: Client): Promise<Browser> {
  const child = fork(PROGRAM, [client.entry, client.aiReact], {
    // Pages run React's production build, not its development build.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const views = new Map<number, PageView>();
  const asked = new Map<number, (reply: Reply) => void>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => (output += text.toString()));
  }
  let nextId = 0;
  let nextPage = 0;

  const isUp = new Promise<void>((resolve, reject) => {
    child.on('message', (report: Report) => {
      if ('isUp' in report) resolve();
      else if ('view' in report) views.set(report.page, report.view);
      else {
        asked.get(report.id)?.(report);
        asked.delete(report.id);
      }
    });
    child.once('exit', () => {
      const error = `${client.name} has ended:\n${output}`;
      reject(new Error(error));
      for (const answer of asked.values()) answer({ id: 0, error });
    });
  });
  await isUp;

  async function ask(
    command: string,
    page: number | undefined,
    ...args: unknown[]
  ): Promise<unknown> {
    const id = (nextId += 1);
    const reply = await new Promise<Reply>((resolve) => {
      asked.set(id, resolve);
      child.send({ id, command, page, args });
    });
    if (reply.error !== undefined) throw new Error(`${client.name}: ${reply.error}`);
    return reply.result;
  }

  return {
    client,
    validate: (parts) => ask('validate', undefined, { parts }) as Promise<string[]>,
    open: async (options) => {
      const page = (nextPage += 1);
      await ask('open', page, options);
      const does =
        (command: string) =>
        async (...args: unknown[]) => {
          await ask(command, page, ...args);
        };
      return {
        sessionId: options.sessionId,
        get view() {
          return views.get(page) ?? NOTHING_YET;
        },
        act: does('act'),
        loadSnapshot: () => ask('loadSnapshot', page) as ReturnType<BrowserPage['loadSnapshot']>,
        mount: does('mount'),
        limit: does('limit'),
        drop: does('drop'),
        show: does('show'),
        untilRests: does('untilRests'),
        close: does('close'),
        readLog: () => ask('readLog', page) as Promise<LoggedRequest[]>,
      };
    },
    close: () => endOf(child),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.disconnect();
  await ended;
}
