import type { Actor, Approvers } from '../protocol/actor.js';
import type { JSONPatchOperation, StreamChunk } from '../protocol/chunk.js';
import type { KnownPerson } from '../protocol/responder.js';
import type { Decision, Row } from '../protocol/rows.js';
import type { CallKind, ChildRef, OnExpiry } from '../protocol/run.js';
import type { Call } from './record.js';

/**
 * What changes are given. Content is given as values and stored as JSON that no change decodes: `Stored` is an input as
 * its change gets it, with texts in the place of values.
 */

/** Identity of a writer: a higher token fences lower ones off. */
export interface WriterInput {
  runId: string;
  /** `m<step>` or `t:<toolCallId>`. */
  name: string;
  token: number;
  /** The base fields of chunks that the store itself writes for this writer. */
  agentType: string;
  /** Default: the session's id. */
  agentId?: string;
  step: number;
}

export interface Writer extends WriterInput {
  sessionId: string;
}

export interface UserMessage {
  id: string;
  /** Hash of the content: the same id with other content is a conflict. */
  hash: string;
  row: Row;
  hidden: boolean;
}

/** A user message that is accepted. */
export interface Message extends Omit<UserMessage, 'row'> {
  /** The row as JSON. */
  row: string;
}

export type { RunUsage } from '../protocol/run.js';

export type CustomState = Record<string, unknown>;

/**
 * How many attempts of a writer may be lost. An attempt is lost if it ended without handing over: its process died or it
 * exceeded its time limit.
 */
export interface AttemptBudget {
  most: number;
  /** Only attempts lost within this time count, ms. */
  withinMs: number;
}

/**
 * What is recorded. `erased` is the receipt of an erasure that is complete, `read` and `export` are of
 * conversations of others, `forget` erases a person.
 */
export type AuditAction =
  | ('approve' | 'deny' | 'result' | 'error' | 'expire' | 'extend' | 'stop')
  | ('resume' | 'retry' | 'branch' | 'erase' | 'erased' | 'read' | 'export' | 'forget')
  | ('pause' | 'unpause' | 'schedule' | 'notify' | 'edit' | 'open');

/** Small facts about an act; never content of people, models or tools. */
export type AuditDetail = Readonly<Record<string, string | number | boolean>>;

/**
 * An act as its change appends it to the outbox of the conversation. The change adds the
 * tenant and the run where only the record knows them, and the outcome.
 */
export interface Act extends Omit<Actor, 'actId'> {
  /** Unique; the chain keeps one entry of each id. */
  id: string;
  /** ms since the epoch. */
  at: number;
  action: AuditAction;
  /** Whose data the act is about, which the entry does not say; absent: no one person's. */
  owner?: string | undefined;
  tenant?: string | undefined;
  runId?: string | undefined;
  toolCallId?: string | undefined;
  toolName?: string | undefined;
  /** SHA-256 of the input that was approved, or of the result that was given, as JSON. */
  inputHash?: string | undefined;
  /** SHA-256 of the reason. */
  reasonHash?: string | undefined;
  detail?: AuditDetail | undefined;
  outcome?: string | undefined;
}

/** What people are shown of a call that waits for them, as its tool was declared when it was made. */
export interface CallDescription {
  /** Name of the agent that asks. */
  agent: string;
  title?: string;
  description?: string;
  /** JSON Schema of what people may change: the input of an approval, the result of a client's call. */
  schema?: unknown;
}

/** The input that a person put in place of the model's: it waits for the approval of another one. */
export interface CallEdit {
  /** Which edit of the call it is, from 1. */
  n: number;
  input: unknown;
  /** Who has changed it, and so asks now; the name in the tenant, and the verified person. */
  by?: string | undefined;
  person?: KnownPerson | undefined;
  at: number;
}

/** A call that a step opens. */
export interface NewCall {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  /**
   * The result, if the call is settled from the start: an invalid or unknown call, or one overtaken
   * by a stop.
   */
  row?: Row;
  /** Time limit of one execution, ms. */
  timeoutMs?: number;
  /** How long a person or client may take to answer, ms after the pause. */
  deadlineMs?: number;
  /** What happens if no answer comes in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without a person; the call is then executed like a server tool's. */
  decision?: Decision;
  /** Who may approve, if the tool demands more than access to the conversation. */
  approvers?: Approvers;
  /** True if the call may be executed again after its worker was lost. */
  idempotent?: boolean;
  /** For kind `subagent`: the run that carries the call out, and its first message. */
  child?: ChildRef & { message: string };
  /** The chunk that asks people; it is deferred until the conversation pauses. */
  ask?: StreamChunk;
  /** Of a call that people answer. */
  about?: CallDescription;
}

/** What the model asked for, as committed. Only this record authorises an execution. */
export interface CallSpec {
  toolCallId: string;
  toolName: string;
  kind: CallKind;
  input: unknown;
  runId: string;
  step: number;
  approvalId?: string;
  /** How long people may take to answer, ms after the pause. */
  deadlineMs?: number;
  /** What happens if no answer comes in time. */
  onExpiry?: OnExpiry;
  /** A decision that was made without a person. */
  decision?: Decision;
  /** Who may approve, if the tool demands more than access to the conversation. */
  approvers?: Approvers;
  /** The run that carries out a call of kind `subagent`. */
  child?: ChildRef;
  /** Of a call that people answer. */
  about?: CallDescription;
  /** Who has changed `input` since, when, and from what; kept beside the call. */
  edited?: Omit<CallEdit, 'input'> & { from: unknown };
}

/** A call that a step opens; texts are JSON. */
export interface StoredCall {
  id: string;
  name: string;
  kind: Call['kind'];
  spec: string;
  row?: string;
  idempotent?: boolean;
  /** The decision that was made without a person. */
  automatic?: string;
  deadlineMs?: number;
  /** Its tool demands an approver. */
  guarded?: boolean;
  /** The chunk that asks people (without step and time) and the one that shows the call; deferred until the pause. */
  ask?: string;
  part?: string;
  child?: ChildRef & { part: string };
  /** First row of the sub-agent's session. */
  brief?: string;
}

/** Changes of an agent's own state. */
export type StateChanges = JSONPatchOperation[];

/** Replies that have a kind only. */
export type Only<Kind extends string> = Kind extends string ? { kind: Kind } : never;

/** The session that an input is for: it names it, or its writer's. */
export type Addressed =
  { sessionId: string } | { writer: Writer } | { child: Pick<ChildRef, 'sessionId'> };

/** Content of a reply: JSON that no change decodes. Who made the change gets its value. */
export class Json<Value> {
  declare readonly of: Value;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type ValueOf<Field> = Field extends Json<infer Value> ? Value : Field;

/** A reply as who made the change gets it. */
export type Decoded<Reply> = Reply extends unknown
  ? { [Name in keyof Reply]: ValueOf<Reply[Name]> }
  : never;

/** A row; its output is a text of its own if it is large. */
export interface KeptRow {
  row: string;
  result?: string | undefined;
}

/** As what values are given to a change, by the name of their field. */
interface Texts {
  writer: WriterInput;
  row: string;
  rows: readonly KeptRow[];
  act: string;
  state: string;
  output: string;
  compaction: string;
  tools: string;
  changes: string;
  chunks: readonly string[];
  messages: readonly Message[];
  message: Omit<Message, 'hidden'>;
  calls: readonly StoredCall[];
  decision: string;
  approver: string;
  edit: string;
}

/** An input as its change gets it; the session is given apart. */
export type Stored<Input> = Input extends unknown
  ? {
      [Name in keyof Input as Name extends 'sessionId' ? never : Name]: Name extends keyof Texts
        ? Texts[Name] | Extract<Input[Name], undefined>
        : Input[Name];
    }
  : never;
