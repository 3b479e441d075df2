import { Fields, Log, Rows, Values, type Place, type Source, type Write } from './fields.js';
import type { Event } from './events.js';
import {
  newRecord,
  type Accepted,
  type Call,
  type Checkpoint,
  type Past,
  type SessionRecord,
  type TurnPlace,
  type Writer,
} from './record.js';
import { isTerminal } from '../protocol/run.js';

/** A conversation and the sessions of its sub-agents, as one change reads and writes them. */
export class Tree {
  readonly conversationId: string;
  readonly log: Log;
  /** The change's events, for its listener once it is stored. */
  readonly events: Event[] = [];
  /** True once the conversation is erased: writes of its sessions are ignored. */
  isErased = false;
  private readonly source: Source;
  private readonly sessions = new Map<string, Session>();
  private readonly others: Write[] = [];

  constructor(conversationId: string, source: Source) {
    this.conversationId = conversationId;
    this.source = source;
    this.log = new Log(source);
  }

  get now(): number {
    return this.source.now;
  }

  get keep(): Source['keep'] {
    return this.source.keep;
  }

  get conversation(): Session {
    return this.session('');
  }

  /** @param part the rest of its id after the conversation's */
  session(part: string): Session {
    let session = this.sessions.get(part);
    if (session === undefined) {
      session = new Session(this, part, this.source);
      this.sessions.set(part, session);
    }
    return session;
  }

  idOf(part: string): string {
    return part === '' ? this.conversationId : `${this.conversationId}.${part}`;
  }

  /** Writes after the end expire together with the rest of the session. */
  private expiry(): Write[] {
    const expires = this.conversation.record?.expires;
    const isSet = this.others.some(([kind]) => kind === 'expire');
    return expires === undefined || isSet ? [] : [['expire', '', Math.max(1, expires - this.now)]];
  }

  tell(event: Event): void {
    this.events.push(event);
  }

  /** Adds a write that belongs to neither a session nor the log. */
  write(...write: Write): void {
    this.others.push(write);
  }

  /** All writes of the change, log entries first. */
  writes(): Write[] {
    if (this.isErased) return [...this.log.writes(), ...this.others];
    const ofSessions = [...this.sessions.values()].flatMap((session) => session.writes());
    const writes = [...this.log.writes(), ...ofSessions, ...this.others];
    if (writes.length === 0) return [];
    return [...writes, ...(ofSessions.length > 0 ? this.counted() : []), ...this.expiry()];
  }

  /** Number of changes of the conversation's record. */
  get version(): number {
    return this.conversation.changes;
  }

  private counted(): Write[] {
    const { record } = this.conversation;
    if (record === undefined) return [];
    return [['set', 'record', '', 'changes', String(this.version + 1)]];
  }
}

/** One session of a conversation. */
export class Session {
  readonly tree: Tree;
  readonly part: string;
  /** Other entries found by id. */
  readonly index: Fields;
  /** Texts that are never decoded: inputs, results, states, queued messages. */
  readonly content: Fields;
  readonly runs: Fields;
  readonly children: Fields;
  /** Files and large results; only the conversation has them. */
  readonly files: Fields;
  readonly results: Fields;
  readonly calls: Values<Call>;
  /** User messages by id. `past` holds the calls whose results are in the transcript, by id. */
  readonly messages: Values<Accepted>;
  readonly past: Values<Past>;
  /** Turns are numbered from 1, checkpoints from 0. */
  readonly turns: Values<TurnPlace>;
  readonly checkpoints: Values<Checkpoint>;
  readonly rows: Rows;
  private readonly own: Fields;
  private readonly writerFields: Fields;
  private readonly writerValues: Values<Writer>;
  private readonly records: Values<SessionRecord>;
  private readonly orders: Values<readonly string[]>;

  constructor(tree: Tree, part: string, source: Source) {
    this.tree = tree;
    this.part = part;
    const fields = (place: Place): Fields => new Fields(source, place, part);
    this.own = fields('record');
    this.writerFields = fields('writers');
    this.index = fields('index');
    this.content = fields('content');
    this.runs = fields('runs');
    this.children = fields('children');
    this.files = fields('files');
    this.results = fields('results');
    this.records = new Values(this.own, 'record');
    this.orders = new Values(this.own, 'order');
    this.calls = new Values(this.own, 'call:');
    this.messages = new Values(this.index, 'm:');
    this.past = new Values(this.index, 's:');
    this.turns = new Values(this.index, 't:');
    this.checkpoints = new Values(this.index, 'cp:');
    this.writerValues = new Values(this.writerFields, 'w:');
    this.rows = new Rows(source, part);
  }

  get isConversation(): boolean {
    return this.part === '';
  }

  get id(): string {
    return this.tree.idOf(this.part);
  }

  get record(): SessionRecord | undefined {
    return this.records.get('');
  }

  set record(record: SessionRecord | undefined) {
    if (record === undefined) this.records.unset('');
    else this.records.set('', record);
  }

  /** The record of a session that is known to exist. */
  get existing(): SessionRecord {
    // A decision on a record that is not read yet is discarded.
    return this.record ?? newRecord(0);
  }

  /** Number of changes of a conversation's record. */
  get changes(): number {
    return Number(this.own.get('changes') ?? 0);
  }

  /** Time of the newest append, ms; 0 before the first one. */
  get appended(): number {
    return Number(this.own.get('appended') ?? 0);
  }

  /** Ids of the calls of the newest committed step, in their order. */
  get order(): readonly string[] {
    return this.orders.get('') ?? [];
  }

  set order(ids: readonly string[]) {
    if (ids.length === 0) this.orders.unset('');
    else this.orders.set('', ids);
  }

  openCalls(): Call[] {
    return this.order.flatMap((id) => this.calls.get(id) ?? []);
  }

  writer(name: string): Writer | undefined {
    return this.writerValues.get(name);
  }

  setWriter(name: string, writer: Writer): void {
    this.writerValues.set(name, writer);
    this.writerFields.set(`t:${name}`, String(writer.token));
  }

  /** The token of the only attempt that may append. */
  fence(name: string): number {
    return Number(this.writerFields.get(`t:${name}`) ?? 0);
  }

  /** Lets this attempt alone append, before it owns the writer. */
  setFence(name: string, token: number): void {
    this.writerFields.set(`t:${name}`, String(token));
  }

  /** The owner's newest batch and its sequence; 0 before the first one. */
  batch(name: string): { n: number; sequence: number } {
    const [n = '0', sequence = '0'] = this.writerFields.get(`b:${name}`)?.split(' ') ?? [];
    return { n: Number(n), sequence: Number(sequence) };
  }

  resetBatch(name: string): void {
    this.writerFields.set(`b:${name}`, '0 0');
  }

  /** Sequences of the events that the writer's call keeps, as noted by appends. */
  notes(name: string): string[] {
    const noted = this.writerFields.get(`e:${name}`);
    return noted === undefined || noted === '' ? [] : noted.split(' ');
  }

  setNotes(name: string, notes: readonly string[]): void {
    this.writerFields.set(`e:${name}`, notes.join(' '));
  }

  dropWriter(name: string): void {
    this.writerValues.unset(name);
    this.writerFields.unset(`t:${name}`, `b:${name}`, `e:${name}`, `w:${name}`);
  }

  dropWriters(): void {
    this.writerValues.forget();
    this.writerFields.drop();
  }

  /** Returns a text that a run keeps while it is active. */
  kept(name: string): string | undefined {
    return this.writerFields.get(name);
  }

  keep(name: string, text: string): void {
    this.writerFields.set(name, text);
  }

  writes(): Write[] {
    this.records.flush();
    this.orders.flush();
    this.calls.flush();
    this.messages.flush();
    this.past.flush();
    this.turns.flush();
    this.checkpoints.flush();
    this.writerValues.flush();
    this.flushLive();
    const places = [
      this.own,
      this.writerFields,
      this.index,
      this.content,
      this.runs,
      this.children,
      this.files,
      this.results,
    ];
    return [...places.flatMap((fields) => fields.writes()), ...this.rows.writes()];
  }

  /** Stores the facts that an append checks, since an append parses no record. */
  private flushLive(): void {
    const record = this.records.get('');
    if (record === undefined) return;
    const { layout, run, stream } = record;
    const live = isTerminal(run.status) ? '-' : run.id;
    const text = `${String(layout)} ${live} ${run.stop === undefined ? '0' : '1'} ${stream === 'paused' ? '1' : '0'}`;
    if (this.own.get('live') !== text) this.own.set('live', text);
  }
}
