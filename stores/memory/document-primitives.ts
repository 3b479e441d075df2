import type { DocumentPrimitives } from '../record/session-documents.js';
import { fromJson } from './json.js';
import type { MemoryData } from './memory-data.js';
import { change, eraseSession, findSession } from './session-access.js';
import { stagedOf } from './staging.js';
import { dropStaged } from './transitions/drop-staged.js';
import { saveState } from './transitions/save-state.js';
import { stage } from './transitions/stage.js';

type Primitives = Omit<DocumentPrimitives, 'readRecord' | 'readView' | 'readRows'>;

/** Runs, checkpoints, the agent's own state and its staged changes in memory. */
export function createDocumentPrimitives(data: MemoryData): Primitives {
  return {
    countRows: async (sessionId) => findSession(data, sessionId)?.rows.length ?? 0,
    readEndedRuns: async (sessionId) =>
      (findSession(data, sessionId)?.endedRuns ?? []).map(fromJson),
    countCheckpoints: async (sessionId) => findSession(data, sessionId)?.checkpoints.length ?? 0,
    readCheckpoints: async (sessionId, from, to) =>
      (
        findSession(data, sessionId)?.checkpoints.slice(from, to === -1 ? undefined : to + 1) ?? []
      ).map(fromJson),
    readState: async (sessionId, version) => {
      const state = findSession(data, sessionId)?.states.get(version);
      return state === undefined ? undefined : fromJson(state);
    },
    saveState: async (sessionId, expectedVersion, state, taken) =>
      change(data, sessionId, (session, context) =>
        saveState(session, { expectedVersion, state, taken }, context),
      ),
    stage: async (sessionId, stepId, changes) =>
      change(data, sessionId, (session) => stage(session, stepId, changes)),
    readStaged: async (sessionId, stepId) => {
      const session = findSession(data, sessionId);
      if (session === undefined) return [];
      return stagedOf(session, stepId)
        .map(({ n, stepId: of, changes }) => ({ ...changes, stepId: of, n }))
        .sort((a, b) => a.n - b.n);
    },
    dropStaged: async (sessionId, stepId) =>
      change(data, sessionId, (session) => dropStaged(session, stepId)),
    erase: async (sessionId) => {
      eraseSession(data, sessionId);
    },
  };
}
