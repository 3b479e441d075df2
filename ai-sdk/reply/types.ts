import type { AgentExecutor } from '../../executor/agent-executor.js';
import type { BusyPolicy } from '../../protocol/busy.js';
import type { HelixError } from '../../protocol/errors.js';
import type { PostedMessage } from '../../protocol/http.js';
import type { Store } from '../../stores/contract/store.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { ConfigurationError } from '../parts/errors.js';
import type { AddressedAgents } from './access.js';

/** What is read of a web `Request`. */
export type IncomingRequest = Pick<Request, 'method' | 'headers'> &
  Partial<Pick<Request, 'signal'>>;

export interface HandleChatStreamParams {
  sessionId: string;
  /** As the client posted them; only the tail is looked at. Empty when there is nothing to say. */
  messages: readonly PostedMessage[];
  /**
   * Who asks: the owner of a conversation that begins, and of others only their owner is answered. Pass
   * it on GET as on POST, or a reconnect is told that there is nothing (204).
   */
  userId?: string | undefined;
  tenantId?: string | undefined;
  /** For user messages that bring no metadata of their own. */
  metadata?: Record<string, string> | undefined;
  /** Its headers tell where to resume and what the client can read; GET reads, anything else posts. */
  request?: IncomingRequest | undefined;
  /** Wins over the headers. */
  resumeFromSequence?: number | undefined;
  /** Taken for compatibility. Continuations use the turn's stored id, which is what a client has. */
  existingMessageId?: string | undefined;
  trigger?: string | undefined;
  messageId?: string | undefined;
  /** What becomes of the messages while a run is at work. */
  busy?: BusyPolicy | undefined;
  /** The agent to talk to; binding on first contact. */
  agent?: string | undefined;
  /**
   * Start sequence of the turn that this viewer's snapshot showed at work, null if it showed none;
   * when absent, what the session remembers of anybody's snapshots.
   */
  sawActiveSince?: number | null | undefined;
}

/** How a request is answered, before any transport. `runId` is the session's newest run. */
export type ChatReply = { runId?: string } & (
  | { kind: 'nothing' }
  | { kind: 'refused'; error: HelixError }
  | {
      kind: 'stream';
      /** SSE text; ends early when the signal fires, throws when it cannot be completed. */
      frames: (signal: AbortSignal) => AsyncIterable<string>;
    }
);

/** An executor's transitions: those of `createAgentExecutor` stand under `runs`. */
export type RunsOf<E> = E | { readonly runs: E };

export function toRuns<E extends object>(executor: RunsOf<E>): E {
  return 'runs' in executor ? executor.runs : executor;
}

type ChatExecutor = Pick<AgentExecutor, 'execute' | 'retry' | 'submitToolResult' | 'expireCalls'>;

/** What the bridge works with. */
export interface ChatDeps {
  executor: ChatExecutor;
  stateStore: Pick<Store, 'sessions'>;
  streamManager: Pick<StreamManager, 'read' | 'follow'>;
  /** Which agents there are, and which of them people may talk to. Default: all. */
  agents: AddressedAgents;
  /** For first contacts that name none. */
  defaultAgent?: string | undefined;
  /** Hosts from which files may be named by URL; `data:` URLs are always taken. */
  allowedFileHosts?: readonly string[] | undefined;
  /** For messages that come while a run is at work, unless the request says. Default: `reject`. */
  busyPolicy?: BusyPolicy | undefined;
  /**
   * False for pages that are given the message which a run is working on with their snapshot: a
   * `GET` with a position is then told what follows it, not the whole turn. Stock clients do not read
   * that right. Default: true.
   */
  contentReplayEnabled?: boolean | undefined;
}

/** The same as an app has it: the executor of `createAgentExecutor`, and the one agent it talks to. */
export type HandleChatStreamDeps = Omit<ChatDeps, 'executor' | 'agents'> & {
  executor: RunsOf<ChatExecutor>;
  /** The agent of every conversation, by definition or name. */
  agent?: { readonly name: string } | string | undefined;
  /** In place of `agent`: requests name one of these. */
  agents?: ChatDeps['agents'] | undefined;
};

/** @throws ConfigurationError if no agent is named */
export function toChatDeps({ executor, agent, agents, ...deps }: HandleChatStreamDeps): ChatDeps {
  const runs = toRuns(executor);
  const name = typeof agent === 'object' ? agent.name : agent;
  const defaultAgent = deps.defaultAgent ?? name;
  if (agents !== undefined) return { ...deps, executor: runs, agents, defaultAgent };
  if (name === undefined) throw new ConfigurationError('The chat handler needs an agent.');
  return { ...deps, executor: runs, agents: { has: (asked) => asked === name }, defaultAgent };
}
