import type { FinishReason } from '../../protocol/chunk.js';
import type { RunMode, RunStatus, StreamStatus } from '../../protocol/run.js';
import { rootOf } from '../../protocol/ids.js';
import { toPerson, type KnownPerson } from '../../protocol/responder.js';
import type { CallEdit, CallSpec, CallState, OpenCall, Wake } from '../contract/call-record.js';
import type { QueuedEntry } from '../contract/queue.js';
import type { SessionRecord } from '../contract/sessions.js';
import { parseUsage } from '../record/run-usage.js';
import { corrupt, parseRow, parseStored } from './stored-json.js';

/** Converts hashes as Redis returns them into the record and calls of a session. Pure. */

/** A page that took an active snapshot may request the turn up to this much later. */
const ACTIVE_SNAPSHOT_MS = 60_000;

/** Builds a call from its fields `<name>:<toolCallId>`. */
export function toOpenCall(id: string, calls: Record<string, string>): OpenCall {
  const field = (name: string): string | undefined => calls[`${name}:${id}`];
  const row = field('row');
  const decision = field('decision');
  const asked = field('asked');
  const deadline = field('deadline');
  const isHeld = field('ask') !== undefined;
  const edit = field('edit');
  const spec = parseStored(field('spec'), `call ${id}`) as CallSpec;
  return {
    spec:
      edit === undefined ? spec : withEdit(spec, parseStored(edit, `edit of ${id}`) as CallEdit),
    state: field('state') as CallState,
    ...(row !== undefined && { row: parseRow(row, `result of ${id}`) }),
    ...(decision !== undefined && {
      decision: parseStored(decision, `decision about ${id}`) as OpenCall['decision'],
    }),
    ...(asked !== undefined && { askedAt: Number(asked) }),
    ...(deadline !== undefined && { deadline: Number(deadline) }),
    ...(isHeld && { held: true }),
  };
}

/** People who ask, as transitions keep them: each once, one JSON text a line. Roles are those of the first only. */
export function toAskersText(askers: readonly KnownPerson[]): string {
  const texts = askers.map(({ roles, ...person }, at) =>
    JSON.stringify(at === 0 && roles !== undefined ? { ...person, roles } : person),
  );
  return [...new Set(texts)].join('\n');
}

/** One who asks: the author of messages, with the roles of this time, or one who asks as well; '' for a rule. */
export function toAskerText(
  { asker, by = '' }: { asker?: KnownPerson | undefined; by?: string },
  isAuthor = false,
): string {
  if (asker === undefined && by === '') return '';
  const { roles, ...person } = asker ?? toPerson(by);
  return toAskersText([isAuthor && roles !== undefined ? { ...person, roles } : person]);
}

export function toAskers(text: string | null | undefined): readonly KnownPerson[] {
  if (!text) return [];
  return text.split('\n').map((json) => parseStored(json, 'askers') as KnownPerson);
}

/** From then on every reader has the changed input: those who are asked, and rules about it. */
function withEdit(spec: CallSpec, { input, ...edit }: CallEdit): CallSpec {
  return { ...spec, input, edited: { ...edit, from: spec.input } };
}

/**
 * An entry of the queue; its rows are stored as JSON text inside, so no Lua encoder changes them.
 */
export function toQueuedEntry(json: string): QueuedEntry {
  const entry = parseStored(json, 'queue') as Omit<QueuedEntry, 'askers'> & { askers: string };
  const messages = entry.messages.map((message) => ({
    ...message,
    row: parseRow(message.row as unknown as string, `queued message ${message.id}`),
  }));
  return { ...entry, askers: toAskers(entry.askers), messages };
}

/** Undefined for a stream without a session. */
export function toRecord(
  sessionId: string,
  root: Record<string, string>,
  now: number,
): SessionRecord | undefined {
  if (root['agent'] === undefined) return undefined;
  const number = (name: string): number => toNumber(name, root[name] ?? '0');
  const json = (name: string): unknown =>
    root[name] === undefined ? undefined : parseStored(root[name], name);
  const error = json('error') as SessionRecord['error'];
  const stop = json('stop') as SessionRecord['stop'];
  const resume = json('resume') as SessionRecord['resume'];
  const interrupted = json('interrupted') as SessionRecord['interrupted'];
  const usage = parseUsage(root['usage']);
  const wakes = Object.keys(root)
    .filter((name) => name.startsWith('wake:'))
    .sort()
    .map((name) => json(name) as Wake);
  const snapshotIsFresh = now - number('snapAt') < ACTIVE_SNAPSHOT_MS;
  const turnVersion = toTurnVersion(root);
  return {
    sessionId,
    agent: root['agent'],
    owner: root['owner'] ?? '',
    ...(root['tenant'] && { tenant: root['tenant'] }),
    born: root['born'] ?? '',
    createdAt: number('created'),
    updatedAt: number('updated'),
    sequence: number('seq'),
    turn: number('turn'),
    runId: root['run'] ?? '',
    status: root['status'] as RunStatus,
    stream: root['stream'] as StreamStatus,
    messageId: root['messageId'] ?? '',
    turnStartSequence: number('turnSeq'),
    turnStartRow: number('turnRow'),
    runStartedAt: number('started'),
    runMode: (root['mode'] ?? 'new') as RunMode,
    ...(root['by'] && { runBy: root['by'] }),
    askers: toAskers(root['askers']),
    ...(root['hasHidden'] !== undefined && { hasHidden: true }),
    storedBytes: number('bytes'),
    runStartSequence: number('runSeq'),
    runFromStep: number('fromStep'),
    committedStep: number('committed'),
    claimedStep: number('claimed'),
    pauseSequence: number('pauseSeq'),
    ...(root['legs'] !== undefined && {
      leg: { number: number('legs') + 1, at: number('legAt'), used: parseUsage(root['legUsed']) },
    }),
    queued: number('queued'),
    stateVersion: number('stateV'),
    ...(turnVersion !== undefined && { turnStateVersion: Number(turnVersion) }),
    checkpointId: root['checkpoint'],
    ...(root['deadline'] !== undefined && { deadline: number('deadline') }),
    ...(root['waitsUntil'] !== undefined && { waitsUntil: number('waitsUntil') }),
    error,
    stop,
    interrupted,
    usage,
    finishReason: root['finishReason'] as FinishReason | undefined,
    ...(root['output'] !== undefined && { output: json('output') }),
    ...(resume && { resume, resumeTaken: root['taken'] !== undefined }),
    ...(root['parent'] !== undefined && {
      parent: toParent(sessionId, root),
      conversationStep: number('conversationStep'),
    }),
    ...(wakes.length > 0 && { wakes }),
    ...(root['snapTurn'] !== undefined &&
      snapshotIsFresh && { activeSnapshotTurn: number('snapTurn') }),
  };
}

function toParent(sessionId: string, root: Record<string, string>): SessionRecord['parent'] {
  const part = root['parent'] ?? '';
  return {
    sessionId: rootOf(sessionId) + (part === '' ? '' : `.${part}`),
    runId: root['parentRun'] ?? '',
    toolCallId: root['parentCall'] ?? '',
  };
}

export function toNumber(what: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number)) throw corrupt(what);
  return number;
}

/** Stored as `<turn> <version>`; ignored if it belongs to an earlier turn. */
function toTurnVersion({ turnV = '', turn }: Record<string, string>): string | undefined {
  const [of, version] = turnV.split(' ');
  return of === turn ? version : undefined;
}
