/** Names of the contract. No imports, so that browsers can use them. */

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
