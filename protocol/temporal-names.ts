/** Names on the wire to Temporal. Plain constants: shared by workflow code, workers and clients. */
export const WORKFLOW_TYPE = 'agentRun';

/** A workflow task of a worker that died is given to another one after this time; stock are 10 s. */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
export const DEFAULT_TASK_QUEUE = 'agent-runs';

/** Tools are carried out from a queue of their own: they never take the place of a model's step. */
export function toolQueueOf(taskQueue: string): string {
  return `${taskQueue}-tools`;
}

export const SIGNALS = {
  answer: 'answer',
  stop: 'stop',
  /** To a sub-agent's run that is no child of its parent any more, since that was reset. */
  reportEnd: 'reportEnd',
  /** Its reply, when it has ended. */
  childEnded: 'childEnded',
} as const;
export const QUERIES = { agentState: 'agentState' } as const;
/** What operators may do to a run in the Temporal UI or CLI. */
export const UPDATES = {
  approve: 'approve',
  deny: 'deny',
  submitToolResult: 'submitToolResult',
  extendDeadline: 'extendDeadline',
  stop: 'stop',
} as const;

/** Search attributes of a run. Names and types are registered at start-up. */
export const SEARCH_ATTRIBUTES = {
  AgentSession: 'KEYWORD',
  AgentName: 'KEYWORD',
  AgentStatus: 'KEYWORD',
  AgentTenant: 'KEYWORD',
  AgentModel: 'KEYWORD',
  AgentTurn: 'INT',
} as const;
