import type { Row } from '../protocol/rows.js';
import { isTerminal } from '../protocol/run.js';
import type { Listener } from '../store/change.js';
import type { BeginInput } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import { titleOf } from '../store/record/conversation-title.js';
import { toStoredRow } from '../store/record/stored-json.js';
import type { AdmitInput, RunsExtension, RunsHost } from './extension.js';

/**
 * Resolves to a function to call once the change is stored or has failed.
 *
 * @throws the refusal of an extension
 */
export type Admit = (input: AdmitInput) => Promise<() => void>;

/** Asks one extension after the other. */
export function createAdmit(extensions: readonly RunsExtension[], host: RunsHost): Admit {
  return async (input) => {
    const done: (() => void)[] = [];
    const release = (): void => {
      for (const each of done) each();
    };
    try {
      for (const { before } of extensions) {
        const after = await before?.(input, host);
        if (after !== undefined) done.push(after);
      }
    } catch (error) {
      release();
      throw error;
    }
    return release;
  };
}

/** Returns the extensions' listeners of changes. */
export function listenersOf(extensions: readonly RunsExtension[], host: RunsHost): Listener[] {
  return extensions.flatMap(({ listener }): Listener[] => {
    if (listener === undefined) return [];
    return [
      (sessionId, events) => {
        listener(sessionId, events, host);
      },
    ];
  });
}

export interface AdmissionDeps {
  admit: Admit;
  /** Keeps work that outlives the request that began it. */
  inBackground: (work: Promise<void>) => void;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * Creates a store that asks extensions before it begins, continues or copies anything. It charges
 * the owner beside the request. If the process dies before that, the session's next change or the
 * repair charges the owner.
 */
export function admitBeforeBegin(
  store: Store,
  { admit, inBackground, logger }: AdmissionDeps,
): Store {
  const { runs, sessions, owners } = store;

  async function admitted<Result>(
    input: AdmitInput,
    title: string,
    change: () => Promise<Result>,
    isKnown: () => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<Result> {
    const { owner, tenant, sessionId } = input;
    let done: () => void;
    try {
      done = await admit(input);
    } catch (error) {
      // Messages that were accepted before add nothing, so they are not refused.
      if (await isKnown()) return change();
      throw error;
    }
    try {
      return await change();
    } finally {
      // The request does not wait for the charge.
      const charged = owners.fold(sessionId, { owner, tenant }, title).catch((error: unknown) => {
        const fields = { err: error, sessionId };
        logger.warn(fields, 'what a request has added is left to be charged later');
      });
      inBackground(charged.finally(done));
    }
  }

  async function wasAccepted({ sessionId, messages }: BeginInput): Promise<boolean> {
    const ids = messages.map(({ id }) => id);
    return (await sessions.acceptedMessages(sessionId, ids)).length === ids.length;
  }

  /** Admits a new run of an existing session; a session with an active run gets none. */
  async function admittedForRun<Result>(
    sessionId: string,
    rows: readonly Row[],
    change: () => Promise<Result>,
  ): Promise<Result> {
    const record = await sessions.read(sessionId);
    if (record === undefined || !isTerminal(record.status)) return change();
    const input = { sessionId, purpose: 'alone', bytes: sizeOf(rows), ...ownerOf(record) } as const;
    return admitted(input, '', change);
  }

  return {
    ...store,
    runs: {
      ...runs,
      begin: (input, noted) => {
        const rows = input.messages.map(({ row }) => row);
        const mayWait = input.policy !== undefined && input.policy !== 'reject';
        return admitted(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: mayWait ? 'run' : 'alone',
            bytes: sizeOf(rows),
          },
          titleOf(rows),
          () => runs.begin(input, noted),
          () => wasAccepted(input),
        );
      },
      resume: (input) => admittedForRun(input.sessionId, [], () => runs.resume(input)),
      rewind: (input) => {
        const edited = input.mode === 'retry' ? (input.messages ?? []) : [];
        const rows = edited.map(({ row }) => row);
        return admittedForRun(input.sessionId, rows, () => runs.rewind(input));
      },
    },
    sessions: {
      ...sessions,
      branch: (input) =>
        admitted(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: 'copy',
            bytes: sizeOf(input.rows),
          },
          titleOf(input.rows),
          () => sessions.branch(input),
        ),
    },
  };
}

function ownerOf({ owner, tenant }: SessionOwner): SessionOwner {
  return { owner, tenant };
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + Buffer.byteLength(toStoredRow(row)), 0);
}
