import type { Runs } from '../../runs/runs.js';
import type { Role } from '../../protocol/actor.js';
import type { BusyPolicy } from '../../protocol/replies.js';
import type { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import { joinParts } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { ConfigurationError } from '../parts/errors.js';
import type { AddressedAgents } from './access.js';
import type { Authorize } from './authority.js';
import type { RejectedIntent } from './resume-intent.js';

/** What is read of a web `Request`. */
export type IncomingRequest = Pick<Request, 'method' | 'headers'> &
  Partial<Pick<Request, 'signal'>>;

export interface HandleChatStreamParams {
  sessionId: string;
  /** As the client posted them; only the tail is read. Empty for a request without messages. */
  messages: readonly PostedMessage[];
  /**
   * The user that asks: the owner of a new conversation; existing ones answer their owner only. Pass it
   * on GET as on POST, or a reconnect gets a 204.
   */
  userId?: string | undefined;
  tenantId?: string | undefined;
  /** For tools that name the roles of their approvers, and for the audit trail. */
  roles?: readonly Role[] | undefined;
  /** The same for all accounts of the person. */
  personId?: string | undefined;
  /** True on a server without sign-in: no tool can demand another person than this one. */
  isEveryone?: boolean | undefined;
  /** For user messages without metadata of their own. */
  metadata?: Record<string, string> | undefined;
  /** Its headers have the resume position and the client's profile; GET reads, other methods post. */
  request?: IncomingRequest | undefined;
  /** Wins over the headers. */
  resumeFromSequence?: number | undefined;
  /** Accepted for compatibility, and ignored: continuations use the turn's stored id, as clients do. */
  existingMessageId?: string | undefined;
  trigger?: string | undefined;
  messageId?: string | undefined;
  /** The policy for messages that come while a run is active. */
  busy?: BusyPolicy | undefined;
  /** The agent to talk to; binding on first contact. */
  agent?: string | undefined;
  /**
   * Start sequence of the turn that this viewer's snapshot showed as active, null if it showed none.
   * Default: as the session's newest snapshot.
   */
  sawActiveSince?: number | null | undefined;
}

/** How a request is answered, before any transport. `runId` is the session's newest run. */
export type ChatReply = { runId?: string } & (
  | { kind: 'nothing' }
  | { kind: 'refused'; error: HelixError }
  | {
      kind: 'stream';
      /** Sequence after which the log is shown, by parts that are not rebuilt from rows. */
      after?: number;
      /** True for the rest of a turn: its client has what precedes `after`. */
      isTail?: boolean;
      /** Of the turn, unless it has yet to begin. */
      messageId?: string;
      /** The only content of the reply: why no answer of the request was taken. */
      rejected?: readonly RejectedIntent[];
      /** SSE text; ends early when the signal fires, throws when it cannot be completed. */
      frames: (signal: AbortSignal) => AsyncIterable<string>;
    }
);

export type StreamedReply = Extract<ChatReply, { kind: 'stream' }>;

type ChatRuns = Pick<Runs, 'execute' | 'retry' | 'stop' | 'submitToolResult' | 'expireCalls'> &
  Partial<Pick<Runs, 'mayApprove'>>;

/** What the bridge works with. */
export interface ChatDeps {
  executor: ChatRuns;
  /** Whose answers are taken. Default: the owner's; tools may demand more of their approvers. */
  authorize?: Authorize | undefined;
  stateStore: Pick<Store, 'sessions' | 'files'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  /** The agents, and which of them people may talk to. Default: all. */
  agents: AddressedAgents;
  /** The agent of first contacts that do not name one. */
  defaultAgent?: string | undefined;
  /** Hosts from which files may be named by URL; `data:` URLs are always taken. */
  allowedFileHosts?: readonly string[] | undefined;
  /** For messages that come while a run is active, unless the request decides. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /**
   * False for pages whose snapshot has the message of an active turn: a `GET` with a position then gets
   * the rest, not the whole turn. Stock clients do not read that correctly. Default: true.
   */
  contentReplayEnabled?: boolean | undefined;
}

/**
 * The same for an app: the executor of `createAgentExecutor` or `createInProcessExecutor`, and the
 * app's one agent.
 */
export type HandleChatStreamDeps = Omit<ChatDeps, 'executor' | 'agents'> & {
  executor: {
    readonly runs: ChatRuns;
    /** Of an executor that carries runs out itself: makes the app's agent known to it. */
    readonly learn?: (agent: { readonly name: string }) => void;
  };
  /** The agent of every conversation, by definition or name. */
  agent?: { readonly name: string } | string | undefined;
  /** In place of `agent`: requests name one of these. */
  agents?: ChatDeps['agents'] | undefined;
};

/** @throws ConfigurationError if no agent is named, or the parts work on different data */
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
