import type { AnswerFacts, RunPart, WaitEnd } from './events.js';
import { fromUsage, sumOf, type Call, type Past } from './record.js';
import { pushRows } from './messages.js';
import { writeChunk, authorOf, withRaw, type ChunkAuthor } from './chunks.js';
import type { Session } from './tree.js';

/** Errors for the model about calls that were never carried out, by code. */
export const SETTLED_TEXTS = {
  run_stopped: 'The run was stopped before this call was carried out.',
  run_failed: 'The run failed before this call was carried out.',
  client_tool_abandoned: 'The user continued without answering this call.',
  tool_outcome_unknown:
    'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
  tool_call_lost: 'The input of this call is no longer there, so it was not carried out.',
};
export type SettlingCode = keyof typeof SETTLED_TEXTS;

/** Outcome of a call whose stored result is gone. */
export const RESULT_LOST = {
  error: 'The result of this call is no longer there.',
  errorCode: 'tool_result_lost',
};
/** Added for a tool that waited for its webhook. */
const PARTIAL_TEXT = 'The tool had done its part, and was waiting for an answer from elsewhere.';

const CONTENT = [
  'spec',
  'row',
  'decision',
  'automatic',
  'ask',
  'part',
  'brief',
  'approver',
  'edit',
] as const;

export function ofCall(what: (typeof CONTENT)[number], id: string): string {
  return `${what}:${id}`;
}

function decisionOf(session: Session, { id, hasDecision, isAutomatic }: Call): string | undefined {
  if (hasDecision === true) return session.content.get(ofCall('decision', id));
  return isAutomatic === true ? session.content.get(ofCall('automatic', id)) : undefined;
}

/** Stores a call's only result. The usage of its sub-agent is added to this run's. */
export function settleRow(session: Session, call: Call, row: string): void {
  const { run } = session.existing;
  if (call.child !== undefined) {
    const child = session.tree.session(call.child.part);
    run.usage = sumOf(run.usage, child.record?.run.usage);
    // The row of the call holds the sub-agent's result.
    session.tree.write('expire', 'session', child.part, session.tree.keep.streamMs);
  }
  session.content.set(ofCall('row', call.id), row);
  call.state = 'settled';
  setBusy(session, call, false);
}

/** Marks a call as able, or not able, to progress without a person. @returns false if nothing changed */
export function setBusy(session: Session, call: Call, isBusy: boolean): boolean {
  if ((call.isBusy === true) === isBusy) return false;
  session.existing.run.busyCalls += isBusy ? 1 : -1;
  if (isBusy) call.isBusy = true;
  else delete call.isBusy;
  return true;
}

/** Returns the agent that reports a call. Questions of a sub-agent appear in the conversation's message. */
function speakerFor(session: Session, { asked }: Call, author: ChunkAuthor): ChunkAuthor {
  if (session.isConversation || asked === undefined) return author;
  const { conversation } = session.tree;
  return { ...authorOf(conversation, author.timestamp), agentType: author.agentType };
}

export function settleByCode(
  session: Session,
  author: ChunkAuthor,
  call: Call,
  code: SettlingCode,
): void {
  const { id, name, state } = call;
  if (code === 'tool_outcome_unknown') undoPatches(session, author, id);
  const error =
    state === 'suspended' ? `${SETTLED_TEXTS[code]} ${PARTIAL_TEXT}` : SETTLED_TEXTS[code];
  const which = { toolCallId: id, toolName: name };
  const head = JSON.stringify({ role: 'tool', ...which, error, errorCode: code });
  const row = withRaw(head, { decision: decisionOf(session, call) });
  const mayHaveEvents = state === 'started' || state === 'suspended';
  const isHeld = call.isHeld === true;
  settleRow(session, call, mayHaveEvents ? withEvents(session, id, row) : row);
  // A call that was never shown to people needs no end.
  if (isHeld) return;
  const isServers = call.kind === 'server' || call.kind === 'subagent';
  writeChunk(session, speakerFor(session, call, author), 'tool_end', {
    ...which,
    result: null,
    error,
    errorCode: code,
    ...(isServers && { providerExecuted: true }),
    ...(call.kind === 'client' && { byClient: true }),
  });
}

export function partOf({ id, existing, tree }: Session): RunPart {
  const { run, parent, agent = '' } = existing;
  const root = tree.conversation.existing;
  return {
    sessionId: id,
    runId: run.id,
    agent,
    turn: root.turn.n,
    rootRunId: root.run.id,
    number: (root.run.leg?.n ?? 0) + 1,
    // A sub-agent begins within a leg.
    beganAt: Math.max(run.leg?.at ?? run.started, root.run.leg?.at ?? 0),
    used: run.usage && fromUsage(run.usage),
    usedBefore: run.leg?.used && fromUsage(run.leg.used),
    parent: parent && {
      sessionId: tree.idOf(parent.part),
      runId: parent.runId,
      toolCallId: parent.toolCallId,
    },
  };
}

const END_OF_WAIT: Record<SettlingCode, WaitEnd> = {
  run_stopped: 'stopped',
  run_failed: 'lost',
  client_tool_abandoned: 'abandoned',
  tool_outcome_unknown: 'lost',
  tool_call_lost: 'lost',
};

export function emitWaitEnd(
  session: Session,
  call: Call,
  ending: SettlingCode | 'answered' | 'expired',
  answer?: AnswerFacts,
): void {
  const { id: toolCallId, name: toolName, kind, since } = call;
  if (since === undefined) return;
  session.tree.emit({
    kind: 'wait_ended',
    part: partOf(session),
    call: { toolCallId, toolName, kind, step: session.existing.run.committed },
    since,
    now: session.tree.now,
    how: ending === 'answered' || ending === 'expired' ? ending : END_OF_WAIT[ending],
    answer,
  });
}

/** Settles all open calls: started ones as outcome unknown, the others with the code. */
export function closeCalls(session: Session, author: ChunkAuthor, code: SettlingCode): void {
  for (const call of session.openCalls()) {
    if (call.state === 'settled') continue;
    if (call.state === 'waiting') emitWaitEnd(session, call, code);
    settleByCode(session, author, call, call.state === 'started' ? 'tool_outcome_unknown' : code);
  }
}

/**
 * Moves the results of settled calls into the transcript, in the order of the calls. Results that people gave to a
 * sub-agent are also kept in the conversation's history.
 */
export function addResults(session: Session): void {
  const { conversation } = session.tree;
  for (const call of session.openCalls()) {
    const { id, name, asked, hook } = call;
    const row =
      session.content.get(ofCall('row', id)) ??
      JSON.stringify({ role: 'tool', toolCallId: id, toolName: name, ...RESULT_LOST });
    const at = pushRows(session, row);
    const past: Past = {
      ...(call.isLate === true && { kind: call.kind, name: call.name, row: at }),
      ...(hook !== undefined && { hook }),
      ...(call.isCalled === true && { told: true }),
    };
    session.past.set(id, past);
    if (!session.isConversation && asked !== undefined) {
      pushRows(conversation, row.replace(/^\{("role":"tool",)?/, '{$1"display":true,'));
    }
    session.calls.unset(id);
    session.content.unset(...CONTENT.map((what) => ofCall(what, id)));
  }
  session.order = [];
  session.existing.run.calls = 0;
}

function eventsOf(session: Session, id: string, kind: 'c' | 'p') {
  return session.notes(`t:${id}`).flatMap((note) => {
    if (!note.startsWith(kind)) return [];
    const sequence = Number(note.slice(1));
    const [entry] = session.tree.log.after(sequence - 1, 1, sequence);
    return entry === undefined ? [] : { sequence, json: entry[2] };
  });
}

/** Reverts the state changes that a call announced but that will never be stored, newest first. */
function undoPatches(session: Session, author: ChunkAuthor, id: string): void {
  for (const { json } of eventsOf(session, id, 'p').reverse()) {
    const { undo } = JSON.parse(json) as { undo?: string };
    if (undo !== undefined) writeChunk(session, author, 'state_patch', {}, { patches: undo });
  }
}

/** Adds the events of a call to its row, since history shows them too. */
export function withEvents(session: Session, id: string, row: string): string {
  const events = eventsOf(session, id, 'c').map(
    ({ sequence, json }) => `{"sequence":${String(sequence)},"chunk":${json}}`,
  );
  return events.length === 0 ? row : withRaw(row, { events: `[${events.join(',')}]` });
}
