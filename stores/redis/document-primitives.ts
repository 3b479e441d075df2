import { randomUUID } from 'node:crypto';
import { childPartOf, runNumberOf } from '../../protocol/ids.js';
import type { DocumentPrimitives } from '../record/session-documents.js';
import { toStoredChanges } from '../record/to-stored-changes.js';
import type { Checkpoint } from '../contract/checkpoints.js';
import type { CustomState } from '../contract/custom-state.js';
import type { Usage } from '../../session/record.js';
import type { RunInfo } from '../contract/runs.js';
import { fromUsage } from '../record/run-usage.js';
import { dropStaged, saveState, stage } from '../../session/state.js';
import { toStoredJson } from '../record/to-stored-json.js';
import { readStaged } from './session-texts.js';
import type { RedisContext } from './context.js';
import { eraseSession } from './erasures.js';
import { callRedis } from './errors.js';
import { parseStored } from './stored-json.js';
import { pairsOf, toStaged } from './stored-state.js';

type Primitives = Omit<DocumentPrimitives, 'readRecord' | 'readView' | 'readRows'>;

/** Runs, checkpoints, the agent's own state and its staged changes in Redis. */
export function createDocumentPrimitives({
  redis,
  keys,
  change,
  look,
  make,
  now,
}: RedisContext): Primitives {
  return {
    countRows: (sessionId) => callRedis(redis.llen(keys.session(sessionId).rows)),
    readEndedRuns: async (sessionId) => {
      const stored = await look(sessionId, ({ runs, tree }) => {
        const all = [...runs.all()];
        return all.map(([name, text]) => {
          const { outputRef } = JSON.parse(text) as { outputRef?: string };
          const output =
            outputRef === undefined ? undefined : tree.conversation.results.get(outputRef);
          return { name, text, output };
        });
      });
      const isRewind = ({ name }: { name: string }): boolean => name.startsWith(REWIND);
      const isRewound = createRewindCheck(stored.filter(isRewind).map(({ text }) => text));
      return stored
        .filter((run) => !isRewind(run))
        .map(({ text, output }) =>
          toRunInfo(parseStored(text, 'run') as StoredRun, isRewound, output),
        );
    },
    countCheckpoints: (sessionId) => look(sessionId, ({ record }) => record?.checkpoints ?? 0),
    readCheckpoints: async (sessionId, from, to) => {
      const found = await look(sessionId, ({ record, index }) => {
        const count = record?.checkpoints ?? 0;
        const [first, last] = [from, to].map((at) => (at < 0 ? count + at : at)) as [
          number,
          number,
        ];
        const places = Array.from({
          length: Math.max(0, Math.min(last, count - 1) - Math.max(0, first) + 1),
        });
        return places.flatMap((_, at) => index.get(`cp:${String(Math.max(0, first) + at)}`) ?? []);
      });
      return found.map((checkpoint) => parseStored(checkpoint, 'checkpoint') as Checkpoint);
    },
    readState: async (sessionId, version) => {
      const state = await look(sessionId, ({ content }) => content.get(`v:${String(version)}`));
      return state === undefined ? undefined : (parseStored(state, 'state') as CustomState);
    },
    saveState: async (sessionId, expectedVersion, state, taken = []) => {
      const nonce = randomUUID();
      return make(sessionId, saveState, {
        expectedVersion,
        state: toStoredJson(state),
        nonce,
        taken: taken.map(({ stepId, toolCallId, n }) => ({ step: stepId, call: toolCallId, n })),
        now: now(),
      });
    },
    stage: async (sessionId, stepId, changes) => {
      const staged = {
        step: toStoredStep(stepId),
        call: changes.toolCallId,
        changes: toStoredChanges(changes),
      };
      return make(sessionId, stage, staged);
    },
    readStaged: async (sessionId, stepId) => {
      const [, , staged] = await look(sessionId, readStaged);
      const step = stepId === undefined ? undefined : toStoredStep(stepId);
      return toStaged(pairsOf(staged)).filter(
        (changes) => step === undefined || changes.stepId === step,
      );
    },
    dropStaged: async (sessionId, stepId) => {
      const step = toStoredStep(stepId).toWellFormed();
      return change(sessionId, (session) => dropStaged(session, step));
    },
    erase: async (sessionId, act) => {
      // A sub-agent's session expires with its conversation.
      if (childPartOf(sessionId) !== '') return;
      await eraseSession({ redis, keys, make, look, now }, sessionId, act);
    },
  };
}

/** Under which the rewinds of a session are kept beside its runs. */
const REWIND = 'rewind ';

/** A run as stored: usage as numbers, its result apart. */
type StoredRun = Omit<RunInfo, 'usage'> & { usage?: Usage; outputRef?: string };

function toRunInfo(
  { usage, outputRef: _outputRef, ...run }: StoredRun,
  isRewound: (run: StoredRun) => boolean,
  output: string | undefined,
): RunInfo {
  return {
    ...run,
    usage: usage === undefined ? undefined : fromUsage(usage),
    ...(output !== undefined && { output: parseStored(output, 'output') }),
    ...(isRewound(run) && { rewound: true }),
  };
}

/** Tells which runs were rewound: those that began at or after a turn that a later rewind dropped. */
function createRewindCheck(rewinds: readonly string[]): (run: StoredRun) => boolean {
  const dropped = rewinds.map(
    (text) => JSON.parse(text) as { n: number; row: number; mode: string },
  );
  return ({ runId, startRow }) =>
    dropped.some(
      ({ n, row, mode }) =>
        runNumberOf(runId) <= n && (startRow > row || (startRow === row && mode === 'retry')),
    );
}

/** A step id as stored: the first slash ends it, whatever the call id contains. */
function toStoredStep(stepId: string): string {
  return stepId.replaceAll('%', '%25').replaceAll('/', '%2F');
}
