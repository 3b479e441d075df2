import { isTerminal, type RunStatus } from '../../protocol/run.js';
import { type Usage, sumOf } from '../../session/record.js';
import type { Want } from '../../session/fields.js';
import { filesOwner } from '../../session/files.js';
import type { Session } from '../../session/tree.js';
import type { SessionOwner } from '../contract/waiting.js';

/** A session's figures, read at one moment. */
export interface Standing {
  /** 0 while the session has files but no message. */
  created: number;
  version: number;
  bytes: number;
  queued: number;
  /** 1 while its run is active. */
  runs: number;
  /** ms since the epoch. */
  updated: number;
  /** Usage of all ended runs: six numbers and the number of runs; '' without runs. */
  spent: string;
}

/** Reads on which a conversation's charge depends. */
export const CHARGED: readonly Want[] = [
  ['field', 'files', '', 'bytes'],
  ['field', 'files', '', 'changes'],
  ['field', 'files', '', 'whose'],
  ['field', 'record', '', 'appended'],
  ['entryCount'],
];

/** An owner's charge for one session. */
export interface Charged {
  owner: SessionOwner;
  agent: string;
  /** Model of its newest step. */
  model: string;
  status: RunStatus;
  standing: Standing;
  /** Stored bytes of a session that must be recounted. */
  uncounted?: number;
}

/**
 * Returns the owner's charge for a conversation; undefined if there is none. Files added before the first message are
 * charged to the one who added them.
 *
 * @param isClosing the session is about to be erased: its active run, with its active sub-agents' usage, counts as if
 * it ended now
 */
export function chargedOf(session: Session, isClosing = false): Charged | undefined {
  const { record, tree, files } = session;
  const [fileBytes, changes] = [files.get('bytes'), files.get('changes')];
  if (record?.agent === undefined) {
    const whose = filesOwner(session);
    if (whose === undefined) return undefined;
    const sizes = { version: Number(changes ?? 0), bytes: Number(fileBytes ?? 0) };
    return {
      ...{ agent: '', model: '', status: 'completed', owner: whose },
      standing: { ...sizes, created: 0, queued: 0, runs: 0, updated: 0, spent: '' },
    };
  }
  const { owner, tenant, run, stream, sizes } = record;
  const hasEnded = isTerminal(run.status);
  const isActive = stream !== 'paused' && !hasEnded;
  // This equals the addition at the end of a run.
  const isCut = isClosing && !hasEnded;
  const spent = isCut
    ? [...sumOf(record.spent, usedBelow(session)), record.runs + 1]
    : [...record.spent, record.runs];
  const hasLog = tree.log.count > 0;
  return {
    agent: record.agent,
    model: run.model ?? '',
    status: run.status,
    owner: { owner, ...(tenant !== '' && { tenant }) },
    ...(!sizes.isComplete && { uncounted: sizes.stored }),
    standing: {
      created: record.created,
      // None of these numbers ever decreases, and each change of a counted figure raises one of them.
      version: tree.log.sequence + run.n + Number(changes ?? 0),
      bytes:
        Math.max(0, sizes.stored) +
        (hasLog ? Math.max(0, tree.log.bytes) : 0) +
        Number(fileBytes ?? 0),
      queued: record.queue.length,
      runs: isActive ? 1 : 0,
      updated: Math.max(record.updated, session.appended),
      spent: record.runs > 0 || isCut ? spent.join(' ') : '',
    },
  };
}

/** Returns the usage of the newest run and its active sub-agents, whose usage otherwise counts only once they end. */
function usedBelow({ tree, existing, children }: Session): Usage {
  let used: Usage | undefined = existing.run.usage;
  for (const [part, run] of children.all()) {
    if (run !== existing.run.id) continue;
    const below = tree.session(part).record?.run;
    if (below !== undefined && !isTerminal(below.status)) used = sumOf(used, below.usage);
  }
  return used ?? [0, 0, 0, 0, 0, 0];
}

export function isSame(a: SessionOwner, b: SessionOwner): boolean {
  return formatOwner(a) === formatOwner(b);
}

export function formatOwner({ owner, tenant = '' }: SessionOwner): string {
  return JSON.stringify([tenant.toWellFormed(), owner.toWellFormed()]);
}

export function parseOwner(text: string): SessionOwner {
  const [tenant, owner] = JSON.parse(text) as [string, string];
  return { owner, ...(tenant !== '' && { tenant }) };
}
