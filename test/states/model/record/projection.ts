import type { Call, SessionRecord, Writer } from '../../../../session/record.js';
import type { Data, Fields } from './data.js';
import { ownersIn, SUB, textsByWriter } from './facts.js';

/**
 * Returns the parts of the stored data that decide its future. Records with equal fingerprints are
 * merged. Clocks, absolute sequences and write-only data (rows, log, ended runs) are left out;
 * invariants check those after each change, before records are merged.
 */
export function fingerprintOf(data: Data): string {
  let text = [...data.expiring].sort().join();
  for (const at of [...data.places.keys()].sort()) {
    const fields = data.places.get(at);
    if (fields !== undefined) text += `\n${at} ${textOf(at, fields)}`;
  }
  return text + openTexts(data);
}

/** Caches projections, since a record shares most places with its predecessor. */
const known = new WeakMap<Fields, string>();

function textOf(at: string, fields: Fields): string {
  let text = known.get(fields);
  if (text === undefined) {
    const project = PROJECTIONS[at.slice(at.indexOf(':') + 1)];
    const texts =
      project === undefined
        ? []
        : [...fields].flatMap(([name, value]) => project(name, value, fields));
    text = texts.sort().join('\n');
    known.set(fields, text);
  }
  return text;
}

/** Returns the parts of a field that count. */
type Project = (name: string, text: string, fields: Fields) => string | readonly string[];

/** Projections by place; places without one do not count. */
const PROJECTIONS: Partial<Record<string, Project>> = {
  record: (name, text) => {
    if (name === 'record') return projectRecord(JSON.parse(text) as SessionRecord);
    if (name.startsWith('call:')) return projectCall(JSON.parse(text) as Call);
    return name === 'appended' || name === 'changes' ? [] : `${name} ${text}`;
  },
  writers: (name, text) => {
    if (name.startsWith('e:')) return [];
    if (name.startsWith('b:')) return `${name} ${text.split(' ')[0] ?? ''}`;
    if (!name.startsWith('w:')) return `${name} ${text}`;
    const { token, left, failures } = JSON.parse(text) as Writer;
    return `${name} ${[token, left, failures].join()}`;
  },
  index: (name, text) => {
    if (name.startsWith('m:') || name.startsWith('o:')) return name;
    if (!name.startsWith('s:')) return [];
    const { kind, told } = JSON.parse(text) as { kind?: string; told?: true };
    return `${name} ${[kind, told].join()}`;
  },
  // The names count, the contents do not.
  content: (name) => (UNREAD_CONTENT.has(name.slice(0, name.indexOf(':'))) ? [] : name),
  children: (name) => name,
};

const UNREAD_CONTENT = new Set(['spec', 'part', 'brief', 'automatic', 'approver']);

const UNREAD: (keyof SessionRecord)[] = [
  'created',
  'updated',
  'born',
  'visible',
  'hasHidden',
  'checkpoint',
  'checkpoints',
  'state',
  'sizes',
  'spent',
  'runs',
];
const RUN_UNREAD: (keyof SessionRecord['run'])[] = [
  'started',
  'sequence',
  'paused',
  'error',
  'interrupted',
  'usage',
  'leg',
  'openSequence',
  'by',
  'mode',
];

function projectRecord(record: SessionRecord): string {
  const { run, turn, queue, stream, expires } = record;
  return textWithout(UNREAD, {
    ...record,
    stream: stream === 'failed' ? 'ended' : stream,
    expires: Number(expires !== undefined),
    turn: [turn.n, turn.hasReplied],
    // A failed run counts as resumable or not.
    run: textWithout(RUN_UNREAD, { ...run, status: run.error?.retryable ?? run.status }),
    queue: queue.map(({ mode, messages }) => [mode, messages.map(({ id }) => id)]),
  });
}

/** Projects a call; the other parts of a settled call are never read again. */
function projectCall(call: Call): string {
  const { id, kind, state, isLate, isTold, child, isCalled } = call;
  const read = state === 'settled' ? { id, kind, state, isLate, isTold, child, isCalled } : call;
  return textWithout(['since'], { ...read, asked: call.asked !== undefined });
}

/** Returns the fields in an order that does not depend on their insertion. */
function textWithout(unread: readonly string[], value: object): string {
  return JSON.stringify(
    Object.entries(value)
      .filter(([name]) => !unread.includes(name))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Returns the log text of open writers, which may be withdrawn or partly left by a wrong claim. */
function openTexts(data: Data): string {
  const owners = [...ownersIn(data, ''), ...ownersIn(data, SUB)];
  if (owners.length === 0) return '';
  const texts = textsByWriter(data.log);
  return owners
    .map(([writer]) => `\n${writer} ${texts.get(writer) ?? ''}`)
    .sort()
    .join('');
}
