import type { Runs } from '../../runs/runs.js';
import type { BusyPolicy } from '../../protocol/replies.js';
import type { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import { joinParts } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { ConfigurationError } from '../parts/errors.js';
import type { AddressedAgents, Caller } from './access.js';
import type { Authorize } from './authority.js';
import type { RejectedIntent } from './resume-intent.js';

/** The fields of a web `Request` that the handler reads. */
export type IncomingRequest = Pick<Request, 'method' | 'headers'> &
  Partial<Pick<Request, 'signal'>>;

export interface HandleChatStreamParams extends Partial<Caller> {
  sessionId: string;
  /** The messages as posted; only the tail is read. Empty for a request without messages. */
  messages: readonly PostedMessage[];
  /**
   * The user who asks, and who owns a new conversation; an existing one answers only its owner. Pass
   * it on GET as on POST, or a reconnect gets a 204.
   */
  userId?: string | undefined;
  metadata?: Record<string, string> | undefined;
  /** Source of the resume position and the client's profile. GET reads, other methods post. */
  request?: IncomingRequest | undefined;
  /** Takes precedence over the headers. */
  resumeFromSequence?: number | undefined;
  /** Ignored, accepted for compatibility: a continuation uses the turn's stored id. */
  existingMessageId?: string | undefined;
  trigger?: string | undefined;
  messageId?: string | undefined;
  /** Policy for messages that arrive while a run is active. */
  busy?: BusyPolicy | undefined;
  /** The agent to talk to; the first contact binds it. */
  agent?: string | undefined;
  /**
   * Start sequence of the turn active in the viewer's snapshot or history, null if none was. Default: that of
   * the newest one of the session.
   */
  sawActiveSince?: number | null | undefined;
}

/** One request: the host's parts, who asks, and for which session. */
export interface Chat {
  deps: ChatDeps;
  params: HandleChatStreamParams;
  caller: Caller;
  /** Id under which the session is stored, or would be. */
  sessionId: string;
}

/** The answer to a request, before any transport. `runId` is the session's newest run. */
export type ChatReply = { runId?: string } & (
  | { kind: 'nothing' }
  | { kind: 'refused'; error: HelixError }
  | {
      kind: 'stream';
      /** Sequence after which the log is shown; parts rebuilt from rows do not count. */
      after?: number;
      /** True for the rest of a turn, whose client has everything up to `after`. */
      isTail?: boolean;
      /** Id of the turn's message; absent if the turn has yet to begin. */
      messageId?: string;
      /** Reasons why no answer of the request was taken; the reply then has no other content. */
      rejected?: readonly RejectedIntent[];
      /** Yields SSE text; returns early when the signal fires, throws if it cannot be completed. */
      frames: (signal: AbortSignal) => AsyncIterable<string>;
    }
);

export type StreamedReply = Extract<ChatReply, { kind: 'stream' }>;

type ChatRuns = Pick<Runs, 'execute' | 'retry' | 'submitToolResult' | 'expireCalls'> &
  Partial<Pick<Runs, 'mayApprove'>>;

export interface ChatDeps {
  executor: ChatRuns;
  /**
   * Decides whose answers are taken. Default: the owner's. Tools may demand more of their approvers.
   */
  authorize?: Authorize | undefined;
  stateStore: Pick<Store, 'sessions' | 'files'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  /** The agents, and which of them people may address. Default: all. */
  agents: AddressedAgents;
  /** Agent of first contacts that name none. */
  defaultAgent?: string | undefined;
  /** Hosts from which files may be named by URL; `data:` URLs are always taken. */
  allowedFileHosts?: readonly string[] | undefined;
  /** Default policy for messages that arrive while a run is active. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /**
   * False for pages whose snapshot includes the message of an active turn: a `GET` with a position
   * then returns the rest instead of the whole turn, which stock clients misread. Default: true.
   */
  contentReplayEnabled?: boolean | undefined;
}

/**
 * Dependencies of an app: the executor of `createAgentExecutor` or `createInProcessExecutor`, and
 * the app's one agent.
 */
export type HandleChatStreamDeps = Omit<ChatDeps, 'executor' | 'agents'> & {
  executor: {
    readonly runs: ChatRuns;
    /** Registers the app's agent with an executor that carries out runs itself. */
    readonly learn?: (agent: { readonly name: string }) => void;
  };
  /** The agent of every conversation, by definition or name. */
  agent?: { readonly name: string } | string | undefined;
  /** Replaces `agent`: each request names one of these. */
  agents?: ChatDeps['agents'] | undefined;
};

/** @throws ConfigurationError if no agent is named, or the parts use different data */
export function toChatDeps({ executor, agent, agents, ...deps }: HandleChatStreamDeps): ChatDeps {
  joinParts(executor, deps.stateStore, deps.streamManager);
  const { runs } = executor;
  const name = typeof agent === 'object' ? agent.name : agent;
  if (typeof agent === 'object') executor.learn?.(agent);
  const defaultAgent = deps.defaultAgent ?? name;
  if (agents !== undefined) return { ...deps, executor: runs, agents, defaultAgent };
  if (name === undefined) throw new ConfigurationError('The chat handler needs an agent.');
  const has = (wanted: string): boolean => wanted === name;
  return { ...deps, executor: runs, agents: { has }, defaultAgent };
}
