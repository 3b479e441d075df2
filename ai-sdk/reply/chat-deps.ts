import type { AgentExecutor } from '../../executor/agent-executor.js';
import type { BusyPolicy } from '../../protocol/busy.js';
import { HelixError } from '../../protocol/errors.js';
import type { Store } from '../../stores/contract/store.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { ConfigurationError } from '../parts/frontend-errors.js';

/** An executor's transitions: those of `createAgentExecutor` stand under `runs`. */
export type RunsOf<E> = E | { readonly runs: E };

export function toRuns<E extends object>(executor: RunsOf<E>): E {
  return 'runs' in executor ? executor.runs : executor;
}

/** The agents of a host, as an `AgentRegistry` has them. */
export interface AddressedAgents {
  has: (name: string) => boolean;
  isPublic?: (name: string) => boolean;
}

/** True for an agent that people may talk to. */
export function isAddressable(agents: AddressedAgents, name: string): boolean {
  return agents.has(name) && (agents.isPublic?.(name) ?? true);
}

/**
 * For what continues a conversation: its agent may have been taken away, or made a sub-agent only.
 *
 * @throws HelixError `agent_not_found`
 */
export function requireAddressable(agents: AddressedAgents, name: string): void {
  if (isAddressable(agents, name)) return;
  throw new HelixError('agent_not_found', "This conversation's agent is not available.");
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
