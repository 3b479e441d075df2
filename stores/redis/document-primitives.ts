import { toStoredJson } from '../record/to-stored-json.js';
import { parseUsage } from '../record/run-usage.js';
import { childPartOf } from '../../protocol/ids.js';
import type { DocumentPrimitives, NumberedChanges } from '../record/session-documents.js';
import type { Checkpoint } from '../contract/checkpoints.js';
import type { CustomState } from '../contract/custom-state.js';
import type { RunInfo } from '../contract/runs.js';
import type { StagedChanges } from '../contract/staging.js';
import type { RedisContext } from './context.js';
import { reach } from './connection.js';
import { parseStored } from './stored-json.js';

type Primitives = Omit<DocumentPrimitives, 'readRecord' | 'readView' | 'readRows'>;

/** Runs, checkpoints, the agent's own state and its staged changes in Redis. */
export function createDocumentPrimitives({ redis, keys, scripts }: RedisContext): Primitives {
  return {
    countRows: (sessionId) => reach(redis.llen(keys.session(sessionId).rows)),
    readEndedRuns: async (sessionId) =>
      (await reach(redis.hvals(keys.session(sessionId).runs))).map((run) =>
        toRunInfo(parseStored(run, 'run') as StoredRun),
      ),
    countCheckpoints: (sessionId) => reach(redis.llen(keys.session(sessionId).checkpoints)),
    readCheckpoints: async (sessionId, from, to) =>
      (await reach(redis.lrange(keys.session(sessionId).checkpoints, from, to))).map(
        (checkpoint) => parseStored(checkpoint, 'checkpoint') as Checkpoint,
      ),
    readState: async (sessionId, version) => {
      const state = await reach(redis.hget(keys.session(sessionId).states, String(version)));
      return state === null ? undefined : (parseStored(state, 'state') as CustomState);
    },
    saveState: async (sessionId, expectedVersion, state, taken = []) => {
      const [kind, version] = await scripts.run('save-state', keys.session(sessionId).all, [
        expectedVersion,
        toStoredJson(state),
        Date.now(),
        ...taken.flatMap(({ stepId, toolCallId, n }) => [`${stepId}/${toolCallId}`, n]),
      ]);
      if (kind === 'SAVED') return { kind: 'saved', version: Number(version) };
      return { kind: kind === 'STALE' ? 'stale' : 'not_found' };
    },
    stage: async (sessionId, stepId, changes) => {
      const [kind] = await scripts.run('stage', keys.session(sessionId).all, [
        stepId,
        changes.toolCallId,
        toStoredJson(changes),
      ]);
      return kind === 'STAGED';
    },
    readStaged: async (sessionId, stepId) => {
      const staged = await reach(redis.hgetall(keys.session(sessionId).staged));
      return Object.entries(staged)
        .filter(([field]) => field !== 'n')
        .map(toNumbered)
        .filter((changes) => stepId === undefined || changes.stepId === stepId)
        .sort((a, b) => a.n - b.n);
    },
    dropStaged: async (sessionId, stepId) =>
      (await scripts.run('drop-staged', keys.session(sessionId).all, [stepId])).map(String),
    erase: async (sessionId) => {
      // A sub-agent's session goes with its conversation.
      if (childPartOf(sessionId) !== '') return;
      const end = { type: 'stream_end', streamId: sessionId, timestamp: Date.now() };
      await scripts.run('erase', keys.session(sessionId).all, [
        toStoredJson({ ...end, status: 'aborted' }),
      ]);
      await reach(redis.zrem(keys.activeIndex, sessionId));
    },
  };
}

/** Usage is stored as its numbers. */
type StoredRun = Omit<RunInfo, 'usage'> & { usage?: string };

function toRunInfo({ usage: used, ...run }: StoredRun): RunInfo {
  const usage = parseUsage(used);
  return usage === undefined ? run : { ...run, usage };
}

/** `<stepId>/<toolCallId>` → `<number> <changes>`; either id may have a slash of its own. */
function toNumbered([field, value]: [string, string]): NumberedChanges {
  const space = value.indexOf(' ');
  const changes = parseStored(value.slice(space + 1), 'staged changes') as StagedChanges;
  const stepId = field.slice(0, -(changes.toolCallId.length + 1));
  return { ...changes, stepId, n: Number(value.slice(0, space)) };
}
