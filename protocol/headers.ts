/** HTTP headers of the contract, in lower case. No imports, so that browsers can use them. */
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
