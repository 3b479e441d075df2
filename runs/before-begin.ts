import type { Row } from '../protocol/rows.js';
import { isTerminal } from '../protocol/run.js';
import type { Listener } from '../store/change.js';
import type { BeginInput } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import { titleOf } from '../store/record/conversation-title.js';
import { toStoredRow } from '../store/record/stored-json.js';
import type { RunsDeps } from './deps.js';
import type { AdmitInput, RunsExtension, RunsHost } from './extension.js';
import type { Starts } from './starts.js';

/** Asks the extensions; resolves to a function to call once the change is stored or has failed. */
export type Admit = (input: AdmitInput) => Promise<() => void>;

export function createAdmit(extensions: readonly RunsExtension[], host: RunsHost): Admit {
  return async (input) => {
    const done: (() => void)[] = [];
    const release = (): void => {
      for (const each of done) callSafely(each, host, input);
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

export function listenersOf(extensions: readonly RunsExtension[], host: RunsHost): Listener[] {
  return extensions.flatMap(({ listener }): Listener[] =>
    listener === undefined
      ? []
      : [
          (sessionId, events) => {
            callSafely(() => listener(sessionId, events, host), host, { sessionId });
          },
        ],
  );
}

/** Calls a function of an extension, which may be async; its failure fails nothing else. */
function callSafely(
  call: () => void | Promise<void>,
  { logger }: Pick<RunsHost, 'logger'>,
  { sessionId }: { sessionId: string },
): void {
  const called = async (): Promise<void> => {
    await call();
  };
  called().catch((error: unknown) => {
    logger.warn({ err: error, sessionId }, 'an extension failed behind a change');
  });
}

/**
 * Creates a store that asks extensions before it begins, continues or copies anything. It charges
 * the owner beside the request. If the process dies before that, the session's next change or the
 * repair charges the owner.
 */
export function admitBeforeBegin(
  store: Store,
  admit: Admit,
  { inBackground, logger }: Pick<Starts, 'inBackground'> & Pick<RunsDeps, 'logger'>,
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

  /**
   * Admits a new run of an existing session; a session with an active run gets none, unless that run
   * is about to be stopped.
   */
  async function admittedForRun<Result>(
    { sessionId, stops }: { sessionId: string; stops?: string | undefined },
    rows: readonly Row[],
    change: () => Promise<Result>,
  ): Promise<Result> {
    const record = await sessions.read(sessionId);
    if (record === undefined) return change();
    if (!isTerminal(record.status) && record.runId !== stops) return change();
    return admitted(toAdmitInput(record, 'alone', rows), '', change);
  }

  return {
    ...store,
    runs: {
      ...runs,
      begin: (input, noted) => {
        const rows = input.messages.map(({ row }) => row);
        const mayWait = input.policy !== undefined && input.policy !== 'reject';
        return admitted(
          toAdmitInput(input, mayWait ? 'run' : 'alone', rows),
          titleOf(rows),
          () => runs.begin(input, noted),
          () => wasAccepted(input),
        );
      },
      resume: (input) => admittedForRun(input, [], () => runs.resume(input)),
      rewind: (input) => {
        const edited = input.mode === 'retry' ? (input.messages ?? []) : [];
        const rows = edited.map(({ row }) => row);
        return admittedForRun(input, rows, () => runs.rewind(input));
      },
    },
    sessions: {
      ...sessions,
      branch: (input) =>
        admitted(toAdmitInput(input, 'copy', input.rows), titleOf(input.rows), () =>
          sessions.branch(input),
        ),
    },
  };
}

function toAdmitInput(
  { sessionId, owner, tenant }: SessionOwner & { sessionId: string },
  purpose: AdmitInput['purpose'],
  rows: readonly Row[],
): AdmitInput {
  const bytes = rows.reduce((sum, row) => sum + Buffer.byteLength(toStoredRow(row)), 0);
  return { sessionId, owner, tenant, purpose, bytes };
}
