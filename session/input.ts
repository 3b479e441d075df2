import type { Actor, Approvers, KnownPerson } from '../protocol/actor.js';
import type { JSONPatchOperation, StreamChunk } from '../protocol/chunk.js';
import type { Decision, Row } from '../protocol/rows.js';
import type { CallKind, ChildRef, OnExpiry } from '../protocol/run.js';
import type { Call } from './record.js';

/**
 * Inputs of changes. Callers pass content as values. A change gets it as JSON texts that it never decodes; `Stored`
 * maps the one form to the other.
 */

/** Identity of a writer. A higher token fences off lower ones. */
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

/** Limit on lost attempts: those whose process died or exceeded its time limit, so that they did not hand over. */
export interface AttemptBudget {
  max: number;
  /** Only attempts lost within this time count, ms. */
  withinMs: number;
}

/**
 * Recorded actions. `erased` confirms a complete erasure, `read` and `export` concern other people's conversations, and
 * `forget` erases a person.
 */
export type AuditAction =
  | ('approve' | 'deny' | 'result' | 'error' | 'expire' | 'extend' | 'stop')
  | ('resume' | 'retry' | 'branch' | 'erase' | 'erased' | 'read' | 'export' | 'forget')
  | ('pause' | 'unpause' | 'schedule' | 'notify' | 'edit' | 'open');

/** Small facts about an act; never content of people, models or tools. */
export type AuditDetail = Readonly<Record<string, string | number | boolean>>;

/** An act in the conversation's outbox. The change adds the outcome, and tenant and run if only the record knows. */
export interface Act extends Omit<Actor, 'actId'> {
  /** Unique; the chain keeps one entry of each id. */
  id: string;
  /** ms since the epoch. */
  at: number;
  action: AuditAction;
  /** Owner of the data concerned, which the entry omits; absent if there is none. */
  owner?: string | undefined;
  tenant?: string | undefined;
  runId?: string | undefined;
  toolCallId?: string | undefined;
  toolName?: string | undefined;
  /** SHA-256 of the input that was approved, or of the result that was given, as JSON. */
  inputHash?: string | undefined;
  reasonHash?: string | undefined;
  detail?: AuditDetail | undefined;
  outcome?: string | undefined;
}

/** Description of a waiting call for people, as its tool was declared when the call was made. */
export interface CallDescription {
  agent: string;
  title?: string;
  description?: string;
  /** JSON Schema of the part that people may change: the input of an approval, the result of a client's call. */
  schema?: unknown;
}

/** An input that a person put in place of the model's. It waits for another person's approval. */
export interface CallEdit {
  /** Number of the edit, from 1. */
  n: number;
  input: unknown;
  /** The editor, who is now the one who asks: the name within the tenant, and the verified person. */
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
  /** The result, if the call is settled from the start: an invalid or unknown call, or one overtaken by a stop. */
  row?: Row;
  /** Time limit of one execution, ms. */
  timeoutMs?: number;
  /** Time limit for a person or client, ms after the pause. */
  deadlineMs?: number;
  onExpiry?: OnExpiry;
  /** An automatic decision; the call is then executed like a server tool's. */
  decision?: Decision;
  /** Required approvers, if access to the conversation is not enough. */
  approvers?: Approvers;
  /** True if the call may be executed again after its worker was lost. */
  idempotent?: boolean;
  /** For kind `subagent`: the run that carries the call out, and its first message. */
  child?: ChildRef & { message: string };
  /** The chunk that asks people; it is deferred until the conversation pauses. */
  ask?: StreamChunk;
  /** Description for people, if they answer the call. */
  about?: CallDescription;
}

/** A call as the model requested it and a step committed it. Only this record authorises an execution. */
export interface CallSpec extends Omit<
  NewCall,
  'row' | 'timeoutMs' | 'idempotent' | 'child' | 'ask'
> {
  runId: string;
  step: number;
  approvalId?: string;
  /** The run that carries out a call of kind `subagent`. */
  child?: ChildRef;
  /** The newest edit of `input`, with the model's input as `from`. Stored separately. */
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

/** The ways in which an input names its session. */
export type Addressed =
  { sessionId: string } | { writer: Writer } | { child: Pick<ChildRef, 'sessionId'> };

/** Content of a reply: JSON that no change decodes. The caller gets the decoded value. */
export class Json<Value> {
  declare readonly of: Value;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type ValueOf<Field> = Field extends Json<infer Value> ? Value : Field;

/** A reply as the caller gets it. */
export type Decoded<Reply> = Reply extends unknown
  ? { [Name in keyof Reply]: ValueOf<Reply[Name]> }
  : never;

/** A row; a large output is a separate text. */
export interface KeptRow {
  row: string;
  result?: string | undefined;
}

/** Types that replace values in a change's input, by field name. */
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

/** An input as its change gets it, without the session's id. */
export type Stored<Input> = Input extends unknown
  ? {
      [Name in keyof Input as Name extends 'sessionId' ? never : Name]: Name extends keyof Texts
        ? Texts[Name] | Extract<Input[Name], undefined>
        : Input[Name];
    }
  : never;
