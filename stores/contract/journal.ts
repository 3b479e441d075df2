import type { JSONPatchOperation } from '../../protocol/chunk.js';
import type { ToolRow } from '../../protocol/rows.js';
import type { WaitCall } from './call-record.js';
import type { Writer } from './log.js';

/** Something that a tool has done under its name, in the order in which it began. */
export type Operation =
  | { kind: 'step'; name: string; result?: unknown }
  | {
      kind: 'sleep' | 'suspend' | 'webhook';
      name: string;
      /** The result of the wait. */
      row?: ToolRow;
    };

/** The operations of a call; null for a step that was begun and has no result. */
export type Journal = readonly (Operation | null)[];

interface JournalInput {
  writer: Writer;
  toolCallId: string;
  /** Place in the journal, from 0. */
  at: number;
  now: number;
  /** Changes of the agent's own state since the operation before. */
  changes?: JSONPatchOperation[];
}

export interface RecordStepInput extends JournalInput {
  /** The step with its result; absent when it begins or has failed. */
  operation?: Operation;
  /** The step threw: nothing of it is recorded, and the tool is no longer in its middle. */
  failed?: boolean;
}

export interface SuspendCallInput extends JournalInput {
  operation: Operation;
  /** The call whose result is waited for, unknown to the model. */
  wait: WaitCall;
  /** When a wait that asks no person ends, ms from now. */
  dueInMs?: number;
}

type Refused =
  | { kind: 'superseded' }
  | { kind: 'stopped' }
  | { kind: 'fenced' }
  /** The journal holds as much as it may. */
  | { kind: 'full' };

export type RecordStepResult = { kind: 'recorded' } | Refused;
export type SuspendCallResult = { kind: 'suspended' } | Refused;
