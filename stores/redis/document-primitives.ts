import { randomUUID } from 'node:crypto';
import { parseUsage } from '../record/run-usage.js';
import { childPartOf, runNumberOf } from '../../protocol/ids.js';
import type { DocumentPrimitives } from '../record/session-documents.js';
import { toStoredChanges } from '../record/to-stored-changes.js';
import type { Checkpoint } from '../contract/checkpoints.js';
import type { CustomState } from '../contract/custom-state.js';
import type { RunInfo } from '../contract/runs.js';
import type { RedisContext } from './context.js';
import { eraseSession } from './erasures.js';
import { callRedis } from './errors.js';
import { parseStored } from './stored-json.js';
import { toStaged } from './stored-state.js';

type Primitives = Omit<DocumentPrimitives, 'readRecord' | 'readView' | 'readRows'>;

/** Runs, checkpoints, the agent's own state and its staged changes in Redis. */
export function createDocumentPrimitives({
  redis,
  keys,
  transitions,
  now,
}: RedisContext): Primitives {
  return {
    countRows: (sessionId) => callRedis(redis.llen(keys.session(sessionId).rows)),
    readEndedRuns: async (sessionId) => {
      const at = keys.session(sessionId);
      const [stored, rewinds] = await Promise.all([
        callRedis(redis.hvals(at.runs)),
        callRedis(redis.lrange(at.rewinds, 0, -1)),
      ]);
      const runs = stored.map((run) => parseStored(run, 'run') as StoredRun);
      const isRewound = createRewindCheck(rewinds);
      const refs = runs.flatMap(({ outputRef }) => outputRef ?? []);
      const outputs = refs.length === 0 ? [] : await callRedis(redis.hmget(at.results, ...refs));
      const byRef = new Map(refs.map((ref, index) => [ref, outputs[index]]));
      return runs.map((run) => toRunInfo(run, isRewound, byRef));
    },
    countCheckpoints: (sessionId) => callRedis(redis.llen(keys.session(sessionId).checkpoints)),
    readCheckpoints: async (sessionId, from, to) =>
      (await callRedis(redis.lrange(keys.session(sessionId).checkpoints, from, to))).map(
        (checkpoint) => parseStored(checkpoint, 'checkpoint') as Checkpoint,
      ),
    readState: async (sessionId, version) => {
      const state = await callRedis(redis.hget(keys.session(sessionId).states, String(version)));
      return state === null ? undefined : (parseStored(state, 'state') as CustomState);
    },
    saveState: async (sessionId, expectedVersion, state, taken = []) => {
      const nonce = randomUUID();
      return transitions.run('saveState', sessionId, (contents) => ({
        expectedVersion,
        state: contents.addJson(state),
        nonce,
        taken: taken.map(({ stepId, toolCallId, n }) => ({ stepId, toolCallId, n })),
        now: now(),
      }));
    },
    stage: async (sessionId, stepId, changes) => {
      const staged = await transitions.run('stage', sessionId, (contents) => ({
        stepId: toStoredStep(stepId),
        toolCallId: changes.toolCallId,
        changes: contents.add(toStoredChanges(changes)),
      }));
      return staged.kind === 'staged';
    },
    readStaged: async (sessionId, stepId) => {
      const staged = await callRedis(redis.hgetall(keys.session(sessionId).staged));
      const step = stepId === undefined ? undefined : toStoredStep(stepId);
      return toStaged(Object.entries(staged)).filter(
        (changes) => step === undefined || changes.stepId === step,
      );
    },
    dropStaged: async (sessionId, stepId) => {
      const dropped = await transitions.run('dropStaged', sessionId, {
        stepId: toStoredStep(stepId),
      });
      return dropped.toolCallIds;
    },
    erase: async (sessionId, act) => {
      // A sub-agent's session expires with its conversation.
      if (childPartOf(sessionId) !== '') return;
      await eraseSession({ redis, keys, transitions, now }, sessionId, act);
    },
  };
}

/** A run as stored: usage as numbers, a large result stored apart. */
type StoredRun = Omit<RunInfo, 'usage'> & { usage?: string; outputRef?: string };

function toRunInfo(
  { usage: used, outputRef, ...run }: StoredRun,
  isRewound: (run: StoredRun) => boolean,
  outputs: Map<string, string | null | undefined>,
): RunInfo {
  const usage = parseUsage(used);
  const output = outputRef === undefined ? undefined : outputs.get(outputRef);
  return {
    ...run,
    usage,
    ...(output != null && { output: parseStored(output, 'output') }),
    ...(isRewound(run) && { rewound: true }),
  };
}

/**
 * Tells which runs were rewound: those that began at or after a turn that a later rewind dropped.
 */
function createRewindCheck(rewinds: readonly string[]): (run: StoredRun) => boolean {
  const dropped = rewinds.map((rewind) => {
    const [n = '', row = '', mode = ''] = rewind.split(' ');
    return { n: Number(n), row: Number(row), isWholeTurn: mode === 'retry' };
  });
  return ({ runId, startRow }) =>
    dropped.some(
      ({ n, row, isWholeTurn }) =>
        runNumberOf(runId) <= n && (startRow > row || (startRow === row && isWholeTurn)),
    );
}

/** A step id as stored: the first slash ends it, whatever the call id contains. */
function toStoredStep(stepId: string): string {
  return stepId.replaceAll('%', '%25').replaceAll('/', '%2F');
}
