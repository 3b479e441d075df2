/**
 * Names of parts by which the runtime itself tells a page how its run goes. A custom event of such a
 * name would be taken for the runtime's word.
 */
export const RESERVED_EVENT_NAMES = [
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
  'resume-rejected',
  'error',
  'output',
] as const;
export type ReservedEventName = (typeof RESERVED_EVENT_NAMES)[number];

const RESERVED: ReadonlySet<string> = new Set(RESERVED_EVENT_NAMES);

/** The type of the part that shows a custom event; unusual characters become dashes. */
export function toEventPartType(eventName: string): `data-${string}` {
  return `data-${eventName.replace(/[^A-Za-z0-9_.-]/g, '-')}`;
}

/** True if the event's part would have the name of one of the runtime's own. */
export function isReservedEventName(eventName: string): boolean {
  return RESERVED.has(toEventPartType(eventName).slice('data-'.length));
}
