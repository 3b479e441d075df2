import { isTerminal } from '../protocol/run.js';
import type { Row } from '../protocol/rows.js';
import type { ReserveInput } from '../stores/contract/owners.js';
import type { BeginInput } from '../stores/contract/runs.js';
import type { Store } from '../stores/contract/store.js';
import type { SessionOwner } from '../stores/contract/waiting.js';
import { titleOf } from '../stores/record/conversation-title.js';
import { toStoredRow } from '../stores/record/to-stored-row.js';
import { quotaExceeded, type Quotas } from './quotas.js';

export interface ReservationDeps {
  /** What an owner may have; undefined: nothing is refused. */
  quotasOf: (owner: SessionOwner) => Quotas | undefined;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * A store that begins, continues and copies nothing beyond what the owner may have. What a request
 * adds is reserved in the owner's slot first, and charged once it is stored; if the process dies in
 * between, the reservation lapses.
 *
 * Its `begin`, `resume`, `rewind` and `branch` throw HelixError `quota_exceeded`.
 */
export function reserveBeforeBegin(store: Store, { quotasOf, logger }: ReservationDeps): Store {
  const { runs, sessions, owners } = store;

  async function reserved<Result>(
    input: ReserveInput,
    change: () => Promise<Result>,
    isKnown: () => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<Result> {
    const { owner, tenant, sessionId } = input;
    const limits = quotasOf(input);
    const reserve = () => owners.reserve({ ...input, ...(limits && { limits }) });
    let result = await reserve();
    if (result.kind === 'exceeded' && result.what === 'sessions') {
      // One that is there, from before sessions were counted, is no new one.
      await owners.fold(sessionId);
      result = await reserve();
    }
    if (result.kind === 'exceeded') {
      // What was accepted before is no more than there is.
      if (await isKnown()) return change();
      throw quotaExceeded(result);
    }
    try {
      return await change();
    } finally {
      await owners
        .fold(sessionId, { owner, ...(tenant !== undefined && { tenant }) })
        .catch((error: unknown) => {
          logger.warn({ err: error, sessionId }, 'a reservation was left to lapse');
        });
    }
  }

  async function wasAccepted({ sessionId, messages }: BeginInput): Promise<boolean> {
    const ids = messages.map(({ id }) => id);
    return (await sessions.acceptedMessages(sessionId, ids)).length === ids.length;
  }

  /** For a new run of an existing session; a session with an active run gets none. */
  async function reservedAgain<Result>(
    sessionId: string,
    rows: readonly Row[],
    change: () => Promise<Result>,
  ): Promise<Result> {
    const record = await sessions.read(sessionId);
    if (record === undefined || !isTerminal(record.status)) return change();
    const input = { sessionId, purpose: 'alone', bytes: sizeOf(rows), ...ownerOf(record) } as const;
    return reserved(input, change);
  }

  return {
    ...store,
    runs: {
      ...runs,
      begin: (input) => {
        const rows = input.messages.map(({ row }) => row);
        const mayWait = input.policy !== undefined && input.policy !== 'reject';
        return reserved(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: mayWait ? 'run' : 'alone',
            bytes: sizeOf(rows),
            title: titleOf(rows),
          },
          () => runs.begin(input),
          () => wasAccepted(input),
        );
      },
      resume: (input) => reservedAgain(input.sessionId, [], () => runs.resume(input)),
      rewind: (input) => {
        const edited = input.mode === 'retry' ? (input.messages ?? []) : [];
        const rows = edited.map(({ row }) => row);
        return reservedAgain(input.sessionId, rows, () => runs.rewind(input));
      },
    },
    sessions: {
      ...sessions,
      branch: (input) =>
        reserved(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: 'copy',
            bytes: sizeOf(input.rows),
            title: titleOf(input.rows),
          },
          () => sessions.branch(input),
        ),
    },
  };
}

function ownerOf({ owner, tenant }: SessionOwner): SessionOwner {
  return { owner, ...(tenant !== undefined && { tenant }) };
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + Buffer.byteLength(toStoredRow(row)), 0);
}
