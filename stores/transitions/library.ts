import { acceptedMessages } from './accepted-messages.js';
import { addFile } from './add-file.js';
import { append } from './append.js';
import { beginChild } from './begin-child.js';
import { BEGIN_QUEUED_FIELDS, beginQueued } from './begin-queued.js';
import { begin, BEGIN_FIELDS } from './begin.js';
import { branch } from './branch.js';
import { chainAudit } from './chain-audit.js';
import { claim, CLAIM_FIELDS } from './claim.js';
import { closeWriter } from './close-writer.js';
import { commit, COMMIT_FIELDS } from './commit.js';
import { compact } from './compact.js';
import { discard } from './discard.js';
import { dropStaged } from './drop-staged.js';
import { editQueued } from './edit-queued.js';
import { END_FIELDS, end } from './end.js';
import { erase } from './erase.js';
import { extendDeadline } from './extend-deadline.js';
import { fold } from './fold.js';
import { forgetUsage } from './forget-usage.js';
import { handOver } from './hand-over.js';
import { keepPage } from './keep-page.js';
import { leaseCall } from './lease-call.js';
import { cjson, toNumber } from './lib/host.js';
import { mayChange } from './lib/layout.js';
import { ownerAt, type Owner } from './lib/owner.js';
import { only } from './lib/request.js';
import { readRoot, writeRoots, type RootField } from './lib/root.js';
import { isConversation, openSession, type Session, type Settings } from './lib/session.js';
import { mark } from './mark.js';
import { noteRefusals } from './note-refusals.js';
import { noteSnapshot } from './note-snapshot.js';
import { noteDue } from './note-due.js';
import { openWriter } from './open-writer.js';
import { passAudit } from './pass-audit.js';
import { pinTools } from './pin-tools.js';
import { putDue } from './put-due.js';
import { readView } from './read-view.js';
import { recordStep } from './record-step.js';
import { recount } from './recount.js';
import { removeQueued } from './remove-queued.js';
import { release } from './release.js';
import { removeFile } from './remove-file.js';
import { reserve } from './reserve.js';
import { RESUME_FIELDS, resumeRun } from './resume-run.js';
import { REWIND_FIELDS, rewind } from './rewind.js';
import { saveState } from './save-state.js';
import { settleCall } from './settle-call.js';
import { stage } from './stage.js';
import { startCall } from './start-call.js';
import { stop } from './stop.js';
import { suspendCall } from './suspend-call.js';
import { takeCallId } from './take-call-id.js';
import { takeDue } from './take-due.js';
import { takeOver } from './take-over.js';
import { trimAudit } from './trim-audit.js';
import { truncate } from './truncate.js';

/**
 * The state machine of the record. Every transition checks in this order: already done (returns the
 * first result) · stop record · fence · expected state. It decodes everything before its first
 * write, so a malformed value changes nothing.
 */
const TRANSITIONS = {
  acceptedMessages,
  addFile,
  begin,
  beginChild,
  beginQueued,
  branch,
  claim,
  closeWriter,
  commit,
  compact,
  discard,
  dropStaged,
  editQueued,
  end,
  erase,
  extendDeadline,
  handOver,
  keepPage,
  leaseCall,
  mark,
  openWriter,
  pinTools,
  readView,
  recordStep,
  recount,
  removeFile,
  removeQueued,
  resumeRun,
  rewind,
  saveState,
  settleCall,
  stage,
  startCall,
  stop,
  suspendCall,
  takeCallId,
  takeOver,
  truncate,
};

type Transitions = typeof TRANSITIONS;
export type TransitionName = keyof Transitions;
export type RequestOf<Name extends TransitionName> = Parameters<Transitions[Name]>[1];

/** Transitions of an owner's figures; they work on the slot of the owner. */
const OWNER_TRANSITIONS = { reserve, release, fold, forgetUsage };

type OwnerTransitions = typeof OWNER_TRANSITIONS;
export type OwnerTransitionName = keyof OwnerTransitions;
export type OwnerRequestOf<Name extends OwnerTransitionName> = Parameters<
  OwnerTransitions[Name]
>[1];

/**
 * Transitions that may run while Redis refuses writes for lack of memory: they free memory or end
 * runs.
 */
export const FREEING: readonly TransitionName[] = [
  'stop',
  'end',
  'discard',
  'settleCall',
  'erase',
  'removeFile',
];
/** Transitions that write nothing. */
export const READING: readonly TransitionName[] = ['acceptedMessages', 'readView'];

/** What these need of the root hash altogether, read by one command with its layout. */
const FIELDS: Partial<Record<string, readonly RootField[]>> = {
  begin: BEGIN_FIELDS,
  beginQueued: BEGIN_QUEUED_FIELDS,
  claim: CLAIM_FIELDS,
  commit: COMMIT_FIELDS,
  resumeRun: RESUME_FIELDS,
  rewind: REWIND_FIELDS,
  end: END_FIELDS,
};

type Transition = (session: Session, request: unknown, args: readonly string[]) => unknown;
type OwnerTransition = (owner: Owner, request: unknown, title: string) => unknown;

/**
 * Runs a transition. Keys: those of the conversation, its root first, from which the names of the
 * others are made as they are needed. Arguments: its name, the session id, settings, the request as
 * JSON, then the user content, to which the request refers by argument number. A record that a newer
 * build has laid out is not changed.
 */
export function run(keys: readonly string[], args: readonly string[]): unknown {
  const name = args[0] as string;
  if (name === 'append') return append(keys, args);
  if (name === 'noteDue') return noteDue(keys, args);
  if (name === 'takeDue') return takeDue(keys, args);
  if (name === 'putDue') return putDue(keys, args);
  if (name === 'noteSnapshot') return noteSnapshot(keys, args);
  const ofOwner = (OWNER_TRANSITIONS as Record<string, OwnerTransition | undefined>)[name];
  if (ofOwner !== undefined) return runOfOwner(ofOwner, keys, args);
  const transition = (TRANSITIONS as Record<string, Transition | undefined>)[name];
  if (transition === undefined) {
    // Last, so that the other transitions do not pay for them.
    if (name === 'chainAudit') return chainAudit(keys, args);
    if (name === 'passAudit') return passAudit(keys, args);
    if (name === 'noteRefusals') return noteRefusals(keys, args);
    return name === 'trimAudit' ? trimAudit(keys, args) : undefined;
  }
  const settings = readSettings(args[2] as string);
  const session = openSession(args[1] as string, keys[0] as string, settings);
  readFirst(session, FIELDS[name]);
  if (!isReading(name) && !mayChange(session)) return only('newer_layout');
  const reply = transition(session, cjson.decode(args[3] as string), args);
  writeRoots(session);
  return reply;
}

/** The layout, and what the sessions of a conversation share, are in the conversation's root. */
function readFirst(session: Session, fields: readonly RootField[] | undefined): void {
  if (fields !== undefined) readRoot(session, fields);
  if (!isConversation(session)) readRoot(session.conversation, SHARED_FIELDS);
}
const SHARED_FIELDS = ['layout', 'seq', 'stream', 'logBytes'] as const;

/**
 * Keys: the holds of the slot. Arguments: name, the user as in keys, the request as JSON, a title
 * or ''.
 */
function runOfOwner(
  transition: OwnerTransition,
  keys: readonly string[],
  args: readonly string[],
): unknown {
  const base = (keys[0] as string).slice(0, -'holds'.length);
  const owner = ownerAt(base, args[1] as string);
  return transition(owner, cjson.decode(args[2] as string), args[3] as string);
}

function isReading(name: string): boolean {
  for (const each of READING) if (each === name) return true;
  return false;
}

/** `<stream TTL> <session TTL>` in seconds; the text is cached, since it rarely changes. */
function readSettings(text: string): Settings {
  if (text !== newest.text) {
    const [stream = '', session = ''] = text.split(' ');
    newest.text = text;
    newest.streamTtlSeconds = toNumber(stream);
    newest.sessionTtlSeconds = toNumber(session);
  }
  const { streamTtlSeconds, sessionTtlSeconds } = newest;
  return { streamTtlSeconds, sessionTtlSeconds };
}
const newest = { text: '', streamTtlSeconds: 0, sessionTtlSeconds: 0 };
