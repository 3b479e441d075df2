import type { AssistantRow, Row, ToolRow } from '../../../../protocol/rows.js';
import { formatModelWriter } from '../../../../protocol/ids.js';
import { callOf, nameOfRun, RUNS, type RunName } from '../plan.js';

import type { Sent } from '../record/play.js';
import {
  agentsOf,
  first,
  invariant,
  type Stored,
  type StoredAgent,
  type StoredEntry,
} from './stored.js';

/** Log and transcript agree. */
export const LOG = [
  invariant(
    'P1',
    'sequences ascend, and the record counts them all',
    ({ entries, sequence }, before) => {
      const newest = entries.at(-1)?.sequence ?? 0;
      if (newest > sequence) return `entry ${String(newest)} is above ${String(sequence)}`;
      if (sequence < before.sequence)
        return `${String(before.sequence)} became ${String(sequence)}`;
      const late = entries.find((entry, at) => entry.sequence <= (entries[at - 1]?.sequence ?? 0));
      return late && `entry ${String(late.sequence)} stands behind a higher one`;
    },
  ),
  invariant(
    'P1',
    'an entry stays in the log, unless another attempt claims its writer',
    ({ entries }, before, sent) => {
      const left = new Set(entries.map(({ sequence }) => sequence));
      const gone = before.entries.filter(({ sequence }) => !left.has(sequence));
      const lost = gone.find(
        (entry) => !MAY_WITHDRAW.has(sent.what) || entry.writer !== senderOf(sent)?.name,
      );
      return lost && `entry ${String(lost.sequence)} of ${lost.writer} is gone`;
    },
  ),
  invariant('P1', 'only the owner of a writer appends to it', ({ entries }, before, sent) => {
    const writer = senderOf(sent);
    const added = entries.filter(({ sequence }) => sequence > before.sequence);
    const other = added.find((entry) => entry.writer !== '' && entry.writer !== writer?.name);
    if (other !== undefined) return `an entry of ${other.writer}`;
    const own = added.some((entry) => entry.writer !== '');
    const owner = writer && ownerOf(before, writer.name);
    return own && owner !== writer?.token
      ? `${String(writer?.token)} writes, ${String(owner)} owns ${writer?.name ?? ''}`
      : undefined;
  }),
  invariant('P1', 'what was appended live is what is stored, once', (after) => {
    for (const agent of agentsOf(after)) {
      for (const run of runsOf(agent)) {
        const violation = findOtherText(after, agent, run) ?? findOtherEvents(after, agent);
        if (violation !== undefined) return violation;
      }
    }
    return undefined;
  }),
  invariant('P1', 'the log has one end of each settled call', (after) => {
    for (const agent of agentsOf(after)) {
      const settled = new Map(toolRows(agent).map((row) => [row.toolCallId, row]));
      for (const { id, row } of agent.calls) {
        if (row !== undefined) settled.set(id, JSON.parse(row) as ToolRow);
      }
      for (const id of callsOf(agent)) {
        const ends = after.entries.filter(({ message }) => isEnd(message, id));
        const row = settled.get(id);
        // A client's result that arrives before the model reads the timeout replaces the timeout.
        if (row?.errorCode === undefined && isTimeout(ends[0]?.message)) ends.shift();
        const isShown = row !== undefined && !isHidden(after, row, id);
        if (ends.length !== (isShown ? 1 : 0)) return `${id} has ${String(ends.length)} ends`;
      }
    }
    return undefined;
  }),
  invariant('P1', 'what an append looks at is what the record says', (after) =>
    first(agentsOf(after), ({ record, live, isOver }) => {
      const { layout, run, stream } = record;
      const marks = [run.stop !== undefined, stream === 'paused'].map(Number);
      const expected = [layout, isOver ? '-' : run.id, ...marks].join(' ');
      return live === expected ? undefined : `it is ${live}, and not ${expected}`;
    }),
  ),
];

/** Error code of a client's call that no page executed in time. */
export const TIMEOUT = 'client_tool_timeout';

const MAY_WITHDRAW = new Set(['claim', 'startCall', 'discard']);

function ownerOf(stored: Stored, writer: string): number | undefined {
  return agentsOf(stored)
    .map(({ owners }) => owners.get(writer))
    .find((token) => token !== undefined);
}

function senderOf(sent: Sent): { name: string; token: number } | undefined {
  if (sent.what === 'append') return { name: sent.args[1] ?? '', token: Number(sent.args[2]) };
  return (sent.input as { writer?: { name: string; token: number } }).writer;
}

function runsOf({ sessionId }: StoredAgent): RunName[] {
  return (Object.keys(RUNS) as RunName[]).filter((run) => RUNS[run].sessionId === sessionId);
}

/** Runs of the conversation, oldest first. */
const IN_ORDER: readonly RunName[] = ['one', 'two', 'three'];

/** Returns the deltas of a run's models by writer; writers of later runs have the same names. */
function wordsOf({ entries }: Stored, run: RunName): Map<string, string[]> {
  const wanted = IN_ORDER.indexOf(run === 'sub' ? 'one' : run);
  const words = new Map<string, string[]>();
  let ended = 0;
  for (const { writer, message } of entries) {
    if (message.type === 'stream_end') ended += 1;
    else if (ended === wanted && message.type === 'text_delta') {
      words.set(writer, [...(words.get(writer) ?? []), message.delta]);
    }
    if (ended > wanted) break;
  }
  return words;
}

/** Finds a committed step whose text is not its writer's, or a closed step with other text. */
function findOtherText(after: Stored, agent: StoredAgent, run: RunName): string | undefined {
  const { sessionId } = RUNS[run];
  const wordsBy = wordsOf(after, run);
  // A steering message adds one step; a second run continues after any step.
  for (let step = 1; step <= RUNS.one.steps.length + 2; step += 1) {
    const writer = formatModelWriter(sessionId, step);
    const words = wordsBy.get(writer) ?? [];
    const row = agent.rows.find((each) => isReply(each, run, step));
    const stored = row === undefined ? '' : textIn(row as AssistantRow);
    if (words.length > 1) return `${writer} of ${run} has ${words.join('')}`;
    const isOpen = agent.owners.has(writer) && nameOfRun(agent.record.run.id) === run;
    // A sub-agent's run that was ended from outside leaves its text only in the log.
    if (row === undefined && (isOpen || (run === 'sub' && agent.isOver))) continue;
    if (words.join('') !== stored) {
      return `${writer} of ${run} has "${words.join('')}" in the log, stored is "${stored}"`;
    }
  }
  return undefined;
}

function isReply(row: Row, run: RunName, step: number): boolean {
  if (row.role !== 'assistant' || row.display === true) return false;
  return row.runId === RUNS[run].runId && row.step === step;
}

function textIn({ parts }: AssistantRow): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Finds a settled call whose events are not those of the attempt with the stored result. */
function findOtherEvents(after: Stored, agent: StoredAgent): string | undefined {
  for (const row of [...toolRows(agent), ...settledRows(agent)]) {
    const { toolCallId: id, events = [] } = row;
    const live = after.entries.filter(
      ({ writer, message }) => writer === `t:${id}` && message.type === 'custom',
    );
    const stored = events.map(({ sequence }) => sequence).join();
    const logged = live.map(({ sequence }) => sequence).join();
    if (stored !== logged) return `${id} has the events ${logged}, stored are ${stored}`;
    if (live.length > 1) return `${id} has the events of two attempts`;
  }
  return undefined;
}

export function toolRows({ rows }: StoredAgent): ToolRow[] {
  return rows.filter((row) => row.role === 'tool').filter(({ display }) => display !== true);
}

function settledRows({ calls }: StoredAgent): ToolRow[] {
  return calls.flatMap(({ row }) => (row === undefined ? [] : [JSON.parse(row) as ToolRow]));
}

function callsOf({ calls, takenIn }: StoredAgent): string[] {
  return [...calls.map(({ id }) => id), ...takenIn];
}

function isEnd(message: StoredEntry['message'], id: string): boolean {
  if (message.type === 'tool_end') return message.toolCallId === id;
  return (
    message.type === 'tool_approval_response' && message.toolCallId === id && !message.approved
  );
}

function asks(message: StoredEntry['message'], id: string): boolean {
  const isAsk = message.type === 'tool_approval_request' || message.type === 'tool_start';
  return isAsk && message.toolCallId === id;
}

function isTimeout(message: StoredEntry['message'] | undefined): boolean {
  return message?.type === 'tool_end' && message.errorCode === TIMEOUT;
}

/** Returns true if the call was held back for a pause that never came, so nobody saw it. */
function isHidden({ entries }: Stored, row: ToolRow | undefined, id: string): boolean {
  const isShown = entries.some(({ message }) => asks(message, id));
  return row?.errorCode !== undefined && callOf(id).isHeld === true && !isShown;
}
