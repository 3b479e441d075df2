/** Ids and names of the contract: pure, without imports, for every side of the wire. */

/** The owner of a session that was created without a user. */
export const ANONYMOUS = 'anonymous';

export const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a client-chosen session id: URL-safe, 1 to 128 characters. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && SESSION_ID.test(value);
}

/** Format under which a session is stored; for tenants `<tenant hash>~<session id>`. */
const STORED_ID = /^(?:[A-Za-z0-9_-]{16}~)?[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a session id as stores and engines know it; clients choose what follows the `~`. */
export function isStoredSessionId(value: unknown): value is string {
  return typeof value === 'string' && STORED_ID.test(value);
}

/** Returns the id by which clients know a stored session or a sub-agent's: without the tenant. */
export function toShownSessionId(storedId: string): string {
  return storedId.slice(storedId.indexOf('~') + 1);
}

const CHILD_PART = /^\d+-[A-Za-z0-9]{1,64}$/;

/** Returns true for the id of a session or of a sub-agent's session; a stream has the id of its session. */
export function isStreamId(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const root = rootOf(value);
  return (
    isStoredSessionId(root) && (root === value || CHILD_PART.test(value.slice(root.length + 1)))
  );
}

/** Clients cannot choose ids of sub-agents' sessions, and the nonce makes them unguessable. */
export function formatChildSessionId(rootSessionId: string, n: number, nonce: string): string {
  return `${rootSessionId}.${String(n)}-${nonce}`;
}

/** Returns the session whose slot and stream a sub-agent shares; a conversation's own id. */
export function rootOf(sessionId: string): string {
  const dot = sessionId.indexOf('.');
  return dot < 0 ? sessionId : sessionId.slice(0, dot);
}

/** The part of a sub-agent's session id after the conversation's; '' for a conversation. */
export function childPartOf(sessionId: string): string {
  return sessionId.slice(rootOf(sessionId).length + 1);
}

/** Returns the writer name of a step's model; sub-agents share the stream of their conversation. */
export function formatModelWriter(sessionId: string, step: number): string {
  const part = childPartOf(sessionId);
  return `${part === '' ? '' : `${part}:`}m${String(step)}`;
}

export function workflowIdOf(runId: string): string {
  return `run:${runId}`;
}

/** Returns the run of a run's workflow; undefined for another workflow. */
export function runOfWorkflow(workflowId: string): string | undefined {
  const prefix = workflowIdOf('');
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : undefined;
}

/** Names an attempt of an activity, unique among all attempts. */
export function attemptIdOf(executionId: string, activityId: string, attempt: number): string {
  return `${executionId}:${activityId}:${String(attempt)}`;
}

/** Returns Temporal's workflow id for the work of a tool's call. */
export function toolWorkflowIdOf(runId: string, toolCallId: string): string {
  return `call:${runId}:${toolCallId}`;
}

/**
 * Returns Temporal's id for a schedule, which also begins the ids of its workflows. `tenantPart` is
 * `<tenant hash>~` or ''; no name has a full stop, so the two have different prefixes.
 */
export function scheduleIdOf(taskQueue: string, tenantPart: string, name: string): string {
  return `schedule:${taskQueue}/${tenantPart}.${name}`;
}

/** Returns Temporal's workflow id for the notices of a step's nth wait, from 1. */
export function waitWorkflowIdOf(runId: string, step: number, nth = 1): string {
  const id = `wait:${runId}:${String(step)}`;
  return nth === 1 ? id : `${id}:${String(nth)}`;
}

export function endWorkflowIdOf(runId: string): string {
  return `end:${runId}`;
}

export function deliveryWorkflowIdOf(deliveryId: string): string {
  return `deliver:${deliveryId}`;
}

/** @param n number of the run within its session, from 1; 0 for the run that a copy begins with */
export function formatRunId(sessionId: string, n: number, nonce: string): string {
  return `${sessionId}:${String(n)}-${nonce}`;
}

/** Returns true for the run that a request with this nonce began. */
export function isOfNonce(runId: string, nonce: string): boolean {
  return runId.endsWith(`-${nonce}`);
}

/** Returns the number of a run within its session, from 1; 0 for a malformed id. */
export function runNumberOf(runId: string): number {
  return Number(/:(\d+)-[^:]*$/.exec(runId)?.[1] ?? 0);
}

/** The session that a run works on; a sub-agent's run has its own session. */
export function sessionOfRun(runId: string): string {
  const colon = runId.lastIndexOf(':');
  return colon < 0 ? runId : runId.slice(0, colon);
}

/** The id under which an approval is requested and answered. */
export function formatApprovalId(runId: string, toolCallId: string): string {
  return `${runId}::${toolCallId}`;
}

/** Splits an approval id; undefined if it is malformed. */
export function parseApprovalId(id: string): { runId: string; toolCallId: string } | undefined {
  const at = id.indexOf('::');
  if (at <= 0 || at + 2 >= id.length) return undefined;
  return { runId: id.slice(0, at), toolCallId: id.slice(at + 2) };
}

/** @param visible number of visible messages before the reply */
export function formatReplyId(visible: number): string {
  return `msg-${String(visible)}`;
}

/** Returns true for ids that the server creates; user messages may not use one. */
export function isAssistantMessageId(id: string): boolean {
  return /^msg-\d+$/.test(id);
}

export function formatCheckpointId(runId: string, step: number): string {
  const colon = runId.lastIndexOf(':');
  return `cpv1-${runId.slice(0, colon)}-s${String(step)}-${runId.slice(colon + 1)}`;
}

/** `stepId` of the approval requests that a pause shows. */
export const ASK_STEP_ID = 'ask';

/** The tool name that ends a run with structured output; never shown to a client. */
export const FINISH_TOOL_NAME = '__finish__';

const FILE_ID = /^[A-Za-z0-9_-]{16,64}$/;

export interface FileReference {
  /** Shown id. */
  sessionId: string;
  fileId: string;
}

/** Formats the address that serves a file, and by which messages name it. */
export function formatFileUrl({ sessionId, fileId }: FileReference): string {
  return `/api/chat/${sessionId}/files/${fileId}`;
}

export function parseFileUrl(url: string): FileReference | undefined {
  const [, sessionId = '', fileId = ''] = /^\/api\/chat\/([^/]+)\/files\/([^/]+)$/.exec(url) ?? [];
  return isSessionId(sessionId) && FILE_ID.test(fileId) ? { sessionId, fileId } : undefined;
}

export function isFileId(value: string): boolean {
  return FILE_ID.test(value);
}

export const HEADERS = {
  sessionId: 'x-session-id',
  runId: 'x-run-id',
  resumeFromSequence: 'x-resume-from-sequence',
  lastEventId: 'last-event-id',
  resumeAt: 'x-resume-at',
  existingMessageId: 'x-existing-message-id',
  profile: 'x-ai-sdk-profile',
  /** `1`: the reader wants to see what sub-agents do. */
  subAgents: 'x-helix-sub-agents',
  /** `static`: calls are parts `tool-<name>` in place of `dynamic-tool`. */
  toolParts: 'x-helix-tool-parts',
  via: 'x-helix-via',
  idempotencyKey: 'idempotency-key',
  /** Percent-encoded. */
  tenant: 'x-helix-tenant',
} as const;

/** Makes a random id. Browsers make UUIDs on secure pages only. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Names of parts with which the runtime reports the progress of a run to a page. A custom event
 * with such a name would be mistaken for one of the runtime.
 */
export const RESERVED_EVENT_NAMES: readonly string[] = [
  'run-interrupted',
  'run-resumed',
  'run-paused',
  'turn-started',
  'queue-changed',
  'executor-superseded',
  'checkpoint-created',
  'step-committed',
  'step-discarded',
  'stream-resync',
  'state-patch',
  'subagent-start',
  'subagent-end',
  'subagent-progress',
  'resume-rejected',
  'error',
  'output',
];

/** Formats the type of the part that shows a custom event; unusual characters become dashes. */
export function toEventPartType(eventName: string): `data-${string}` {
  return `data-${eventName.replace(/[^A-Za-z0-9_.-]/g, '-')}`;
}

/** Returns true if the event's part would have the name of one of the runtime's own parts. */
export function isReservedEventName(eventName: string): boolean {
  return RESERVED_EVENT_NAMES.includes(toEventPartType(eventName).slice('data-'.length));
}

/** Metadata keys of user messages that have a meaning for the runtime. */
export const COMMON_METADATA_KEYS = {
  /** True for a message that the model gets but the page does not show. */
  HIDDEN: 'hidden',
} as const;
