import type { FileUIPart, UIMessage } from 'ai';
import {
  createResumableChatTransport,
  type Patience,
  type ResumableChatTransport,
} from '../../ai-sdk/client/index.js';
import type { UseHelixChatHelpers, UseHelixChatOptions } from '../../ai-sdk/react/index.js';
import { HEADERS } from '../../protocol/wire-names.js';
import type { SessionEvent } from '../../protocol/http.js';
import { parseApprovalId } from '../../protocol/ids.js';
import {
  pageFetch,
  request,
  stopRun,
  type Fetch,
  type PageConfig,
  type Snapshot,
} from './api-client.js';
import { Attachments } from './attachments.js';
import { classifyFailure, describeFailure, UNAVAILABLE } from './failure.js';
import { textOf } from './message-text.js';
import { PageStore, type PageState } from './page-store.js';
import { withSentAt } from './message-text.js';
import { SessionActions } from './session-actions.js';
import { SessionControls } from './session-controls.js';
import { SubAgentReports } from './sub-agent-reports.js';

/** Afterwards the page offers a retry, and tries again when it is looked at or back online. */
const GIVE_UP_AFTER_MS = 10 * 60_000;

export type PageChat = UseHelixChatHelpers<UIMessage>;

export interface ConversationOptions {
  sessionId: string;
  agent: string;
  snapshot?: Snapshot | undefined;
  /** How the server's agents are presented. */
  cards?: PageConfig['cards'];
  /** Which files the server takes. */
  files?: PageConfig['files'];
  send?: Fetch;
  patience?: TransportSettings['patience'];
  renderEveryMs?: number;
}

/** Often enough to look continuous, seldom enough to leave the machine time. */
const RENDER_EVERY_MS = 40;

/** The page's result of one of its tools. */
export type ToolResult = { output: unknown } | { state: 'output-error'; errorText: string };

/** One conversation: how its chat is set up, what a person can do in it, and what the page shows of failures. */
export class Conversation {
  readonly sessionId: string;
  readonly page: PageStore;
  readonly cards: PageConfig['cards'];
  /** What other agents do for this one. */
  readonly reports: SubAgentReports;
  /** What can be done beside talking. */
  readonly controls: SessionControls;
  /** The files of the message that is being written. */
  readonly attachments: Attachments;
  /** For `useHelixChat`. */
  readonly chatOptions: UseHelixChatOptions<UIMessage>;

  readonly #fetch: Fetch;
  #chat: PageChat | undefined;
  /** Called when a render shows the chat at rest. */
  readonly #awaitingRest: (() => void)[] = [];
  /** How often the person has acted. */
  #acts = 0;
  /** Messages that the server has, as far as the page knows. */
  #accepted: ReadonlySet<string>;

  constructor(options: ConversationOptions) {
    const {
      sessionId,
      agent,
      snapshot,
      cards = [],
      files,
      send,
      patience,
      renderEveryMs,
    } = options;
    this.sessionId = sessionId;
    this.cards = cards;
    this.#fetch = send ?? pageFetch;
    this.#accepted = idsOf(snapshot);
    const actions = new SessionActions(sessionId, this.#fetch);
    this.reports = new SubAgentReports((callId) => actions.loadReport(callId));
    this.page = new PageStore({ agent, ...toKnown(snapshot), notice: toNotice(snapshot) });
    this.page.noteDecisions(snapshot?.decisions);
    const limits = { page: this.page, send: this.#fetch, limits: files };
    this.attachments = new Attachments({ sessionId, ...limits });
    const transport = openTransport(this.page, { send: this.#fetch, patience });
    this.chatOptions = {
      id: sessionId,
      messages: snapshot?.messages ?? [],
      throttle: renderEveryMs ?? RENDER_EVERY_MS,
      transport,
      // There may be a reply to follow as soon as the page is up.
      resume: snapshot?.status === 'active' || snapshot?.status === 'paused',
      resumeFromSequence: snapshot?.streamSequence,
      fetch: this.#fetch,
      loadSnapshot: () => this.#load(transport.loadSnapshot<UIMessage>(sessionId)),
      onData: this.reports.accept,
      onSessionEvent: (event) => {
        this.page.set(toKnown(event as SessionEvent<UIMessage>));
        this.page.noteDecisions(event.decisions);
      },
      onError: (error) => {
        this.#showFailure(error);
      },
      onFinish: () => {
        this.page.set({ stopping: false, reconnecting: false, following: false });
      },
    };
    this.controls = new SessionControls({
      page: this.page,
      actions,
      refresh: () => void this.refresh(),
    });
  }

  /** The chat as of the newest render. */
  get chat(): PageChat {
    if (this.#chat === undefined) throw new Error('The conversation is not shown yet.');
    return this.#chat;
  }

  set chat(chat: PageChat) {
    this.#chat = chat;
    if (!isBusy(chat)) for (const resolve of this.#awaitingRest.splice(0)) resolve();
  }

  readonly send = (text: string): void => {
    const files = this.attachments.take();
    this.#begin({ draft: '' });
    if (this.#isBusy()) void this.#sayBeside(text, files);
    else {
      const metadata = withSentAt();
      void this.chat.sendMessage({ text, metadata, ...(files.length > 0 && { files }) });
    }
  };

  readonly answer = (approvalId: string, approved: boolean, reason?: string): void => {
    this.#begin();
    this.page.noteDecision(parseApprovalId(approvalId)?.toolCallId);
    const words = reason === '' ? undefined : reason;
    void this.chat.addToolApprovalResponse({ id: approvalId, approved, reason: words });
  };

  /** Gives the result of a tool that the page carries out, or the reason why there is no result. */
  readonly giveResult = (toolCallId: string, tool: string, result: ToolResult): void => {
    this.#begin();
    void this.chat.addToolOutput({ tool, toolCallId, ...result });
  };

  /** Repeats the newest turn. */
  readonly regenerate = (): void => {
    this.#begin();
    void this.chat.regenerate();
  };

  /** Sends once more what did not get through, under the same id, so that it counts once. */
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
      await stopRun(this.#fetch, this.sessionId);
    } catch {
      const notice = { text: 'The reply could not be stopped.', retry: false };
      this.page.set({ stopping: false, notice });
    }
  };

  /** Takes note of a snapshot that the chat loads. */
  async #load(loading: Promise<Snapshot | undefined>): Promise<Snapshot | undefined> {
    const before = this.#acts;
    let snapshot: Snapshot | undefined;
    try {
      snapshot = await loading;
    } catch (error) {
      this.page.set({ reconnecting: false });
      // Without an error the page shows what it has.
      if (this.chat.error) this.page.set({ notice: { text: UNAVAILABLE, retry: true } });
      throw error;
    }
    if (snapshot === undefined) return undefined;
    this.#accepted = idsOf(snapshot);
    const { notice } = this.page.get();
    this.page.set(toKnown(snapshot));
    this.page.noteDecisions(snapshot.decisions);
    // An old failure is no news to a person who has acted since.
    if (notice === undefined && before === this.#acts)
      this.page.set({ notice: toNotice(snapshot) });
    // What looked lost had arrived.
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
    // The chat takes note of its error after this.
    if (failure.kind === 'refused') setTimeout(() => void this.#giveBack());
  }

  /** Shows what the server has, and puts a message that it refused back into the composer. */
  async #giveBack(): Promise<void> {
    // On a busy machine the newest render still shows the request, and a chat that looks busy is not refreshed.
    await this.#untilRest();
    const { chat, page } = this;
    // The chat's own messages: those of the newest render may lack it.
    const shown: UIMessage[] = [];
    chat.setMessages((local) => {
      shown.push(...local);
      return local;
    });
    const last = shown.at(-1);
    chat.clearError();
    // The server may have accepted it, and refused it when it was sent again.
    await chat.refresh({ keepUnsent: false }).catch(() => undefined);
    if (last?.role !== 'user' || this.#accepted.has(last.id)) return;
    chat.setMessages((local) => local.filter(({ id }) => id !== last.id));
    this.attachments.giveBack(last.parts);
    const words = [textOf(last), page.get().draft];
    page.set({ draft: words.filter((text) => text !== '').join('\n') });
  }

  #hasUnsent(): boolean {
    const last = this.chat.messages.at(-1);
    return last?.role === 'user' && !this.#accepted.has(last.id);
  }

  #isBusy(): boolean {
    return isBusy(this.chat);
  }

  #untilRest(): Promise<void> {
    if (!this.#isBusy()) return Promise.resolve();
    return new Promise((resolve) => this.#awaitingRest.push(resolve));
  }

  #begin(change: Partial<PageState> = {}): void {
    this.#acts += 1;
    this.page.set({ notice: undefined, ...change });
  }
}

function isBusy({ status }: PageChat): boolean {
  return status === 'submitted' || status === 'streaming';
}

function idsOf(snapshot: Snapshot | undefined): ReadonlySet<string> {
  return new Set(snapshot?.messages.map(({ id }) => id));
}

/** What the server tells beside the messages. */
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

interface TransportSettings {
  send: Fetch;
  /** For tests. */
  patience?: Partial<Pick<Patience, 'giveUpAfterMs' | 'retryDelayMs'>> | undefined;
}

/** The package's transport. The page adds the agent and the snapshot's position, and reads the run id. */
function openTransport(
  page: PageStore,
  { send, patience }: TransportSettings,
): ResumableChatTransport {
  return createResumableChatTransport({
    api: '/api/chat',
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    ...patience,
    headers: { [HEADERS.subAgents]: '1' },
    // A conversation is bound to its agent by the first message; naming another later is refused.
    body: () => (page.get().bound ? {} : { agent: page.get().agent }),
    fetch: async (input, init) => {
      const isSnapshot = init?.cache === 'no-store';
      const response = await (isSnapshot ? request(send, input, init) : send(input, init));
      const runId = response.headers.get('x-run-id');
      // Whatever has a run exists on the server.
      if (runId !== null && runId !== page.get().runId) page.set({ runId, bound: true });
      return response;
    },
    prepareReconnectToStreamRequest: (asked) => {
      const headers = new Headers(asked.headers);
      const { sequence } = page.get();
      if (sequence !== undefined) headers.set('X-Resume-From-Sequence', String(sequence));
      return { headers };
    },
    onConnectionChange: (isConnected) => {
      page.set({ reconnecting: !isConnected });
    },
  });
}
