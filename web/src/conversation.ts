import type { FileUIPart, UIMessage } from 'ai';
import {
  createResumableChatTransport,
  type Patience,
  type ResumableChatTransport,
} from '../../ai-sdk/client/index.js';
import type { UseHelixChatHelpers, UseHelixChatOptions } from '../../ai-sdk/react/index.js';
import { HEADERS, parseApprovalId } from '../../protocol/ids.js';
import type { SessionEvent } from '../../protocol/replies.js';
import {
  ask,
  chatUrl,
  pageFetch,
  request,
  withBody,
  type Fetch,
  type PageConfig,
  type Snapshot,
} from './api-client.js';
import { Attachments } from './attachments.js';
import { classifyFailure, describeFailure, UNAVAILABLE } from './failure.js';
import { textOf } from './message-text.js';
import { isBusy } from './page-status.js';
import { PageStore, type PageState } from './page-store.js';
import { SessionControls } from './session-controls.js';
import { SubAgentReports } from './sub-agent-reports.js';

/** After this time the page offers a retry. It also retries when it becomes visible or online. */
const GIVE_UP_AFTER_MS = 10 * 60_000;

export type PageChat = UseHelixChatHelpers<UIMessage>;

export interface ConversationOptions {
  sessionId: string;
  agent: string;
  snapshot?: Snapshot | undefined;
  /** Titles of the server's agents and tools. */
  cards?: PageConfig['cards'];
  /** File types and sizes that the server accepts. */
  files?: PageConfig['files'];
  send?: Fetch;
  /** Tests only. */
  patience?: Partial<Pick<Patience, 'giveUpAfterMs' | 'retryDelayMs'>> | undefined;
  /** Tests only. */
  renderEveryMs?: number;
}

/** Frequent enough to look continuous, rare enough to spare the CPU. */
const RENDER_EVERY_MS = 40;

/** The page's result of one of its tools. */
export type ToolResult = { output: unknown } | { state: 'output-error'; errorText: string };

/** One conversation: its chat, the person's acts in it, and the errors that the page shows. */
export class Conversation {
  readonly sessionId: string;
  readonly page: PageStore;
  readonly cards: PageConfig['cards'];
  readonly reports: SubAgentReports;
  /** Acts other than sending messages. */
  readonly controls: SessionControls;
  /** Files of the message in the composer. */
  readonly attachments: Attachments;
  /** Options for `useHelixChat`. */
  readonly chatOptions: UseHelixChatOptions<UIMessage>;

  readonly #fetch: Fetch;
  #chat: PageChat | undefined;
  /** Called when a render shows an idle chat. */
  readonly #awaitingRest: (() => void)[] = [];
  /** Number of the person's acts so far. */
  #acts = 0;
  /** Ids of the messages that the server is known to have. */
  #accepted: ReadonlySet<string>;

  constructor(options: ConversationOptions) {
    const { sessionId, agent, snapshot, cards = [], files, send = pageFetch } = options;
    this.sessionId = sessionId;
    this.cards = cards;
    this.#fetch = send;
    this.#accepted = idsOf(snapshot);
    this.reports = new SubAgentReports((callId) => this.controls.loadReport(callId));
    this.page = new PageStore({ agent, ...toKnown(snapshot), notice: toNotice(snapshot) });
    this.page.noteDecisions(snapshot?.decisions);
    const deps = { sessionId, send, page: this.page };
    this.attachments = new Attachments({ ...deps, limits: files });
    this.controls = new SessionControls({ ...deps, refresh: () => void this.refresh() });
    const transport = openTransport(this.page, send, options.patience);
    this.chatOptions = {
      id: sessionId,
      messages: snapshot?.messages ?? [],
      throttle: options.renderEveryMs ?? RENDER_EVERY_MS,
      transport,
      // A reply may be in progress when the page loads.
      resume: snapshot?.status === 'active' || snapshot?.status === 'paused',
      resumeFromSequence: snapshot?.streamSequence,
      fetch: send,
      loadSnapshot: () => this.#load(transport.loadSnapshot<UIMessage>(sessionId)),
      onData: this.reports.accept,
      onSessionEvent: (event) => {
        this.page.set(toKnown(event as SessionEvent<UIMessage>));
        this.page.noteDecisions(event.decisions);
      },
      onError: (error) => this.#showFailure(error),
      onFinish: () => this.page.set({ stopping: false, reconnecting: false, following: false }),
    };
  }

  /** The chat of the newest render. */
  get chat(): PageChat {
    if (this.#chat === undefined) throw new Error('The conversation is not shown yet.');
    return this.#chat;
  }

  set chat(chat: PageChat) {
    this.#chat = chat;
    if (!isBusy(chat.status)) for (const resolve of this.#awaitingRest.splice(0)) resolve();
  }

  readonly send = (text: string): void => {
    const files = this.attachments.take();
    this.#begin({ draft: '' });
    if (isBusy(this.chat.status)) void this.#sayBeside(text, files);
    else {
      const metadata = { sentAt: Date.now() };
      void this.chat.sendMessage({ text, metadata, ...(files.length > 0 && { files }) });
    }
  };

  readonly answer = (approvalId: string, approved: boolean, reason?: string): void => {
    this.#begin();
    this.page.noteDecision(parseApprovalId(approvalId)?.toolCallId);
    const words = reason === '' ? undefined : reason;
    void this.chat.addToolApprovalResponse({ id: approvalId, approved, reason: words });
  };

  /** Sends the result of a client tool, or the reason why there is none. */
  readonly giveResult = (toolCallId: string, tool: string, result: ToolResult): void => {
    this.#begin();
    void this.chat.addToolOutput({ tool, toolCallId, ...result });
  };

  readonly regenerate = (): void => {
    this.#begin();
    void this.chat.regenerate();
  };

  /** Sends the failed message again under the same id, so that it counts once. */
  readonly retry = (): void => {
    this.#begin();
    void this.chat.retry().catch(() => undefined);
  };

  readonly refresh = async (): Promise<void> => {
    await this.chat.refresh().catch(() => undefined);
  };

  readonly stop = async (): Promise<void> => {
    this.page.set({ stopping: true });
    try {
      await ask(this.#fetch, chatUrl(this.sessionId, 'stop'), withBody({}));
    } catch {
      const notice = { text: 'The reply could not be stopped.', retry: false };
      this.page.set({ stopping: false, notice });
    }
  };

  /** Copies a snapshot that the chat loads into the page's state. */
  async #load(loading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    const before = this.#acts;
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await loading;
    } catch (error) {
      this.page.set({ reconnecting: false });
      // If the chat has no error, the page keeps its old content without a notice.
      if (this.chat.error) this.page.set({ notice: { text: UNAVAILABLE, retry: true } });
      throw error;
    }
    if (snapshot === undefined) return undefined;
    this.#accepted = idsOf(snapshot);
    const { notice } = this.page.get();
    this.page.set(toKnown(snapshot));
    this.page.noteDecisions(snapshot.decisions);
    // A person who has acted since then does not need to see an old failure.
    if (notice === undefined && before === this.#acts)
      this.page.set({ notice: toNotice(snapshot) });
    // The message that looked lost had arrived.
    if (notice?.retry === true && !this.#hasUnsent()) this.page.set({ notice: undefined });
    return snapshot;
  }

  async #sayBeside(text: string, files: FileUIPart[]): Promise<void> {
    if (!(await this.controls.say(text, files))) this.attachments.giveBack(files);
  }

  #showFailure(error: Error): void {
    this.page.set({ stopping: false, reconnecting: false });
    const failure = classifyFailure(error);
    if (failure.kind === 'withdrawn') return;
    this.page.set({
      notice: {
        text: failure.text,
        retry: failure.kind === 'unavailable',
        ofReply: failure.kind === 'reply',
      },
    });
    // The chat sets its own error after this callback.
    if (failure.kind === 'refused') setTimeout(() => void this.#giveBack());
  }

  /** Shows the server's state, and puts a message that the server refused back into the composer. */
  async #giveBack(): Promise<void> {
    // On a slow machine the newest render still shows the request, and a busy chat does not
    // refresh.
    await this.#untilRest();
    const { chat, page } = this;
    // `setMessages` passes the chat's current messages; the newest render's may lack the last one.
    const shown: UIMessage[] = [];
    chat.setMessages((local) => {
      shown.push(...local);
      return local;
    });
    const last = shown.at(-1);
    chat.clearError();
    // The server may have accepted the first attempt and refused only the repetition.
    await chat.refresh({ keepUnsent: false }).catch(() => undefined);
    if (last?.role !== 'user' || this.#accepted.has(last.id)) return;
    chat.setMessages((local) => local.filter(({ id }) => id !== last.id));
    this.attachments.giveBack(last.parts);
    page.giveBack(textOf(last));
  }

  #hasUnsent(): boolean {
    const last = this.chat.messages.at(-1);
    return last?.role === 'user' && !this.#accepted.has(last.id);
  }

  #untilRest(): Promise<void> {
    if (!isBusy(this.chat.status)) return Promise.resolve();
    return new Promise((resolve) => this.#awaitingRest.push(resolve));
  }

  #begin(change: Partial<PageState> = {}): void {
    this.#acts += 1;
    this.page.set({ notice: undefined, ...change });
  }
}

function idsOf(snapshot: Snapshot | undefined): ReadonlySet<string> {
  return new Set(snapshot?.messages.map(({ id }) => id));
}

/** Maps a snapshot or event to the page's state; messages are not part of it. */
function toKnown(known: Snapshot | SessionEvent<UIMessage> | undefined): Partial<PageState> {
  if (known === undefined) return {};
  const { run, pending = [], queue = [], status } = known;
  return {
    bound: true,
    following: status === 'active',
    pending,
    queue,
    ...('streamSequence' in known && { sequence: known.streamSequence, state: known.state }),
    ...(run && {
      runId: run.runId,
      runStatus: run.status,
      waitingFor: run.waitingFor,
      startAt: run.startAt,
    }),
  };
}

function toNotice(snapshot: Snapshot | undefined): PageState['notice'] {
  if (snapshot?.status !== 'failed') return undefined;
  return { text: describeFailure(snapshot.run), retry: false, ofReply: true };
}

/** Creates the package's transport. The page adds the agent and the snapshot's position, and reads the run id. */
function openTransport(
  page: PageStore,
  send: Fetch,
  patience: ConversationOptions['patience'],
): ResumableChatTransport {
  return createResumableChatTransport({
    api: '/api/chat',
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    ...patience,
    headers: { [HEADERS.subAgents]: '1' },
    // The first message binds a conversation to its agent; the server refuses another agent later.
    body: () => (page.get().bound ? {} : { agent: page.get().agent }),
    fetch: async (input, init) => {
      const isSnapshot = init?.cache === 'no-store';
      const response = await (isSnapshot ? request(send, input, init) : send(input, init));
      const runId = response.headers.get('x-run-id');
      // A conversation with a run exists on the server.
      if (runId !== null && runId !== page.get().runId) page.set({ runId, bound: true });
      return response;
    },
    prepareReconnectToStreamRequest: (asked) => {
      const headers = new Headers(asked.headers);
      const { sequence } = page.get();
      if (sequence !== undefined) headers.set('X-Resume-From-Sequence', String(sequence));
      return { headers };
    },
    onConnectionChange: (isConnected) => page.set({ reconnecting: !isConnected }),
  });
}
