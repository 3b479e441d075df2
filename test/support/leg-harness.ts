import type { LanguageModel } from 'ai';
import type { z } from 'zod';
import type { Attempt } from '../../activities/attempt.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { toLegProgress } from '../../activities/leg/run-leg.js';
import { createRunOperations } from '../../activities/run-operations.js';
import { AgentRegistry, defineAgent, type AgentConfig } from '../../agents/index.js';
import { openLocalAttempt } from '../../extensions/one-process/attempts.js';
import type { LegOutcome, LegRef } from '../../protocol/temporal.js';
import type { Row } from '../../protocol/rows.js';
import type { Calls } from '../../store/contract/calls.js';
import type { RunRecord } from '../../store/contract/runs.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { AGENT, changing, drive, userMessage, type SessionDriver } from './session-driver.js';

/** A worker process that dies: its next operation never returns. */
export interface Process {
  attempt: Attempt;
  /** Aborts the attempt's signal, as a worker does whose time to shut down is over. */
  cancel: () => void;
}

/** Opens an attempt outside of Temporal; later ones have higher tokens. */
export function openProcess(number = 1): Process {
  const leaving = new AbortController();
  const token = (1_700_000_000_000 + number * 1_000) * 1_000 + number;
  return {
    attempt: openLocalAttempt(number, token, Date.now(), leaving.signal),
    cancel: () => {
      leaving.abort(new Error('the worker shuts down'));
    },
  };
}

export interface LegHarness {
  session: SessionDriver;
  deps: ActivityDeps;
  /** Names of the requested changes, in order. */
  asked: string[];
  begin: () => Promise<RunRecord>;
  record: () => Promise<SessionRecord | undefined>;
  rows: (from: number, to?: number) => Promise<Row[]>;
  /** Executes one attempt of the run's first leg, or of the given one. */
  leg: (run: RunRecord, process?: Process, more?: Partial<LegRef>) => Promise<LegOutcome>;
}

type StartsCalls = (start: Calls['start']) => Calls['start'];

interface AgentInLegs extends Partial<Omit<AgentConfig<z.ZodType, z.ZodType>, 'llmConfig'>> {
  model: LanguageModel;
}

/** Creates the loop of a leg over the memory store, with real steps and calls, without Temporal. */
export function createLegHarness(
  { model, ...agent }: AgentInLegs,
  { start, ...options }: Pick<ActivityDeps, 'isDraining'> & { start?: StartsCalls } = {},
): LegHarness {
  const stores = createMemoryStores();
  const own = { name: AGENT, systemPrompt: '', activities: 'leg', ...agent } as const;
  const asked: string[] = [];
  const deps: ActivityDeps = {
    store: changing(stores.store, (changes) => {
      const { steps } = changes;
      const calls = { ...changes.calls, ...(start && { start: start(changes.calls.start) }) };
      return {
        ...changes,
        steps: { ...steps, ...noted(asked, steps, ['claim', 'commit']) },
        calls: { ...calls, ...noted(asked, calls, ['start', 'settle']) },
      };
    }),
    streamManager: stores.streamManager,
    agents: new AgentRegistry([defineAgent({ ...own, llmConfig: { model } })]),
    services: {},
    startNext: () => Promise.resolve(),
    logger: { info: () => undefined, warn: () => undefined },
    ...options,
  };
  const { leg } = createRunOperations(deps);
  const session = drive(stores);
  return {
    session,
    deps,
    asked,
    begin: async () => {
      const result = await session.begin({ messages: [userMessage('u1', 'hi')] });
      if (result.kind !== 'begun') throw new Error(`begin replied ${result.kind}`);
      return result.run;
    },
    record: () => stores.store.sessions.read(session.id),
    rows: (from, to) => stores.store.sessions.rows(session.id, from, to),
    leg: (run, { attempt } = openProcess(), more = {}) => {
      const ref: LegRef = {
        sessionId: session.id,
        runId: run.runId,
        agent: AGENT,
        turn: run.turn,
        maxSteps: 50,
        at: { version: 0, sequence: 0, next: { do: 'model', step: 1, isFirst: true } },
        ...more,
      };
      return leg(ref, attempt, toLegProgress(ref, ref.replaces?.progress));
    },
  };
}

/** Wraps methods so that their calls are recorded. */
function noted<Of extends object>(asked: string[], of: Of, names: (keyof Of & string)[]): object {
  return Object.fromEntries(
    names.map((name) => {
      const method = of[name] as (...args: unknown[]) => unknown;
      return [
        name,
        (...args: unknown[]) => {
          asked.push(name);
          return method(...args);
        },
      ];
    }),
  );
}
