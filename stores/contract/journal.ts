import type { Operation } from '../../session/input.js';

export type { Operation } from '../../session/input.js';
export type {
  RecordStep as RecordStepInput,
  RecordStepReply as RecordStepResult,
  SuspendCall as SuspendCallInput,
  SuspendCallReply as SuspendCallResult,
} from '../../session/journal.js';

/** The operations of a call; null for a step that was begun and has no result. */
export type Journal = readonly (Operation | null)[];
