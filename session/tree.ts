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
  readonly now: number;
  readonly keep: Source['keep'];
  readonly log: Log;
  /** The change's events, for its listener once it is stored. */
  readonly events: Event[] = [];
  /** True once the conversation is erased: writes of its sessions are ignored. */
  isErased = false;
  readonly source: Source;
  private readonly sessions = new Map<string, Session>();
  private readonly others: Write[] = [];

  constructor(conversationId: string, source: Source) {
    this.conversationId = conversationId;
    this.source = source;
    this.now = source.now;
    this.keep = source.keep;
    this.log = new Log(source);
  }

  get conversation(): Session {
    return this.session('');
  }

  /** @param part the rest of its id after the conversation's */
  session(part: string): Session {
    let session = this.sessions.get(part);
    if (session === undefined) {
      session = new Session(this, part);
      this.sessions.set(part, session);
    }
    return session;
  }

  idOf(part: string): string {
    return part === '' ? this.conversationId : `${this.conversationId}.${part}`;
  }

  emit(event: Event): void {
    this.events.push(event);
  }

  /** Adds a write that belongs to neither a session nor the log. */
  write(...write: Write): void {
    this.others.push(write);
  }

  /** All writes of the change, log entries first. */
  writes(): Write[] {
    const { log, others, now } = this;
    if (this.isErased) return [...log.writes(), ...others];
    const ofSessions = [...this.sessions.values()].flatMap((session) => session.writes());
    const writes = [...log.writes(), ...ofSessions, ...others];
    if (writes.length === 0) return writes;
    const { record, changes } = this.conversation;
    if (record !== undefined && ofSessions.length > 0)
      writes.push(['set', 'record', '', 'changes', String(changes + 1)]);
    // What is written after the end expires together with the rest of the session.
    if (record?.expires !== undefined && !others.some(isExpiry))
      writes.push(['expire', 'session', '', Math.max(1, record.expires - now)]);
    return writes;
  }
}

function isExpiry([kind, what]: Write): boolean {
  return kind === 'expire' && what === 'session';
}

/** Holds the stored places of one session of a conversation. */
class Places {
  readonly tree: Tree;
  readonly part: string;
  readonly id: string;
  readonly isConversation: boolean;
  protected readonly places: Fields[] = [];
  protected readonly decoded: Values<unknown>[] = [];

  constructor(tree: Tree, part: string) {
    this.tree = tree;
    this.part = part;
    this.id = tree.idOf(part);
    this.isConversation = part === '';
  }

  protected fields(place: Place): Fields {
    const made = new Fields(this.tree.source, place, this.part);
    this.places.push(made);
    return made;
  }

  protected values<Value>(of: Fields, prefix: string): Values<Value> {
    const made = new Values<Value>(of, prefix);
    this.decoded.push(made);
    return made;
  }
}

export class Session extends Places {
  private readonly own = this.fields('record');
  /** By writer: `w:` record, `t:` fence, `b:` newest batch, `e:` notes; also what an active run keeps. */
  readonly writers = this.fields('writers');
  /** Other entries found by id. */
  readonly index = this.fields('index');
  /** Texts that are never decoded: inputs, results, states, queued messages. */
  readonly content = this.fields('content');
  readonly runs = this.fields('runs');
  readonly children = this.fields('children');
  /** Files and large results; only the conversation has them. */
  readonly files = this.fields('files');
  readonly results = this.fields('results');
  private readonly records = this.values<SessionRecord>(this.own, 'record');
  private readonly orders = this.values<readonly string[]>(this.own, 'order');
  readonly calls = this.values<Call>(this.own, 'call:');
  /** User messages by id. `past` holds the calls whose results are in the transcript, by id. */
  readonly messages = this.values<Accepted>(this.index, 'm:');
  readonly past = this.values<Past>(this.index, 's:');
  /** Turns are numbered from 1, checkpoints from 0. */
  readonly turns = this.values<TurnPlace>(this.index, 't:');
  readonly checkpoints = this.values<Checkpoint>(this.index, 'cp:');
  private readonly writerValues = this.values<Writer>(this.writers, 'w:');
  readonly rows = new Rows(this.tree.source, this.part);

  get record(): SessionRecord | undefined {
    return this.records.get('');
  }

  set record(record: SessionRecord | undefined) {
    this.records.set('', record);
  }

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
    this.orders.set('', ids.length === 0 ? undefined : ids);
  }

  openCalls(): Call[] {
    return this.order.flatMap((id) => this.calls.get(id) ?? []);
  }

  writer(name: string): Writer | undefined {
    return this.writerValues.get(name);
  }

  setWriter(name: string, writer: Writer): void {
    this.writerValues.set(name, writer);
    this.writers.set(`t:${name}`, String(writer.token));
  }

  /** The token of the only attempt that may append. */
  fence(name: string): number {
    return Number(this.writers.get(`t:${name}`) ?? 0);
  }

  /** The owner's newest batch and its sequence; 0 before the first one. */
  batch(name: string): { n: number; sequence: number } {
    this.tree.log.isRead = true;
    const [n = '0', sequence = '0'] = this.writers.get(`b:${name}`)?.split(' ') ?? [];
    return { n: Number(n), sequence: Number(sequence) };
  }

  resetBatch(name: string): void {
    this.tree.log.isRead = true;
    this.writers.set(`b:${name}`, '0 0');
  }

  /** Sequences of the events that the writer's call keeps, as noted by appends. */
  notes(name: string): string[] {
    this.tree.log.isRead = true;
    const noted = this.writers.get(`e:${name}`);
    return noted === undefined || noted === '' ? [] : noted.split(' ');
  }

  dropWriter(name: string): void {
    this.writerValues.unset(name);
    this.writers.unset(`t:${name}`, `b:${name}`, `e:${name}`, `w:${name}`);
  }

  dropWriters(): void {
    this.writerValues.forget();
    this.writers.drop();
  }

  writes(): Write[] {
    for (const values of this.decoded) values.flush();
    this.flushLive();
    return [...this.places.flatMap((fields) => fields.writes()), ...this.rows.writes()];
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
