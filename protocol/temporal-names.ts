import type { RunActivities } from './activities.js';

export const WORKFLOW_TYPE = 'agentRun';
/** One firing of a schedule: a run of its agent. */
export const FIRING_WORKFLOW_TYPE = 'agentFiring';
/** Notices of a wait, the notice of a run's end, and the delivery of a notice to one receiver. */
export const WAIT_WORKFLOW_TYPE = 'notifyWaiting';
export const END_WORKFLOW_TYPE = 'notifyEnd';
export const DELIVERY_WORKFLOW_TYPE = 'deliver';

export const TOOL_WORK_WORKFLOW_TYPE = 'agentToolWork';

/** Message of a failure whose text is in its details, which only the payload codec can read. */
export const SEALED_FAILURE = 'Encrypted: see the details.';

/** Failure type of an attempt that did not begin because the store did not answer. */
export const STORE_UNREACHABLE = 'StoreUnreachable';

export const DEFAULT_TASK_QUEUE = 'agent-runs';

/** Tools have their own task queue, so that they never take the place of a model step. */
export function toolQueueOf(taskQueue: string): string {
  return `${taskQueue}-tools`;
}

/** Notices have their own task queue, so that a slow receiver never takes the place of a run. */
export function noticeQueueOf(taskQueue: string): string {
  return `${taskQueue}-notices`;
}

/** Returns Temporal's fairness key, by which tenants share a backlog fairly; at most 64 bytes. */
export function fairnessKeyOf(tenant = ''): string {
  let key = '';
  let bytes = 0;
  for (const character of tenant) {
    bytes += character < '\u0080' ? 1 : 4;
    if (bytes > 64) break;
    key += character;
  }
  return key;
}

/** Activities whose attempts are registered under the lease of their worker. */
export const LEASED_ACTIVITIES: ReadonlySet<string> = new Set<keyof RunActivities>([
  'modelStep',
  'toolCall',
  'leg',
]);

export const SIGNALS = {
  stop: 'stop',
  /** Asks a run to read its record again, perhaps with a hint. Harmless at any time. */
  look: 'look',
  /**
   * Sent to a sub-agent's run that is no longer a child of its parent, because the parent was
   * reset: once it has ended, it asks the parent to look.
   */
  reportEnd: 'reportEnd',
  waitOver: 'waitOver',
  /** Sent to the notices of a wait when a further call waits. */
  waitGrown: 'waitGrown',
} as const;
export const QUERIES = { agentState: 'agentState' } as const;
export const UPDATES = {
  approve: 'approve',
  deny: 'deny',
  submitToolResult: 'submitToolResult',
  extendDeadline: 'extendDeadline',
  stop: 'stop',
  /** The same as the signal. */
  look: 'look',
} as const;

/** Search attributes of a run; names and types are registered at start-up. */
export const SEARCH_ATTRIBUTES = {
  AgentSession: 'KEYWORD',
  AgentName: 'KEYWORD',
  AgentStatus: 'KEYWORD',
  AgentTenant: 'KEYWORD',
  AgentModel: 'KEYWORD',
  AgentTurn: 'INT',
} as const;
