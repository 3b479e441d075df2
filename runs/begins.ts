import { ConfigurationError } from '../protocol/errors.js';
import { LIMITS } from '../protocol/limits.js';
import { isTerminal } from '../protocol/run.js';
import { noteInBackground } from '../store/contract/due.js';
import type { BeginInput, BeginResult, RunRecord } from '../store/contract/runs.js';
import { FIRST_SWEEP_MS, newNonce, type RunsCore } from './deps.js';
import { refusal } from './refusals.js';
import type { ExecuteInput, Runs } from './runs.js';
import type { Starts } from './starts.js';
import type { Stops } from './stops.js';

/** Runs whose workflows are started by a workflow that calls them. */
export interface PreparedRuns extends Pick<Starts, 'startOf'> {
  /** Accepts messages like `execute`, without a start of the workflow. */
  prepare: Runs['execute'];
}

interface HowToBegin {
  begun: (run: RunRecord, of: Pick<ExecuteInput, 'tenant' | 'startAt'>) => void;
  /** Delay before the sweeper checks the run's workflow. */
  sweepInMs: number;
  /** True if retries must not postpone the next check of a busy session. */
  mayWait?: boolean;
}

/** Results that mean another run is, or should be, active. */
const MAY_HOLD_UP: ReadonlySet<BeginResult['kind']> = new Set(['busy', 'queued', 'steered']);

/** A caller's workflow starts the run's own as its child within this time, else the sweeper does. */
const CALLER_STARTS_MS = 15_000;

export function createBegins(
  deps: RunsCore & Stops & Starts & { sweepSession: (sessionId: string) => Promise<unknown> },
): Pick<Runs, 'execute'> &
  Pick<PreparedRuns, 'prepare'> & { requireAgent: (name: string) => void } {
  const { store, streamManager, launch, wakeSuperseded, sweepSession, lostSignal, agents } = deps;
  const { sessions } = store;
  let isShown = streamManager.inspect === undefined;

  function requireAgent(agent: string): void {
    if (deps.carriesOut !== true || agents.has(agent)) return;
    throw refusal('agent_not_found');
  }

  /** Checks with the first run that store and streams share data; addresses do not show it. */
  async function requireStream(sessionId: string): Promise<void> {
    if (isShown) return;
    // An outage does not refuse an accepted run; the next run repeats the check.
    const shown = await streamManager.inspect?.(sessionId).catch(() => null);
    isShown = shown !== undefined && shown !== null;
    if (shown !== undefined || (await sessions.read(sessionId)) === undefined) return;
    const text =
      'The stream manager does not have what the store has: they work on different data.';
    throw new ConfigurationError(text);
  }

  /** Begins a run that the sweeper starts if its beginner does not. */
  async function beginNoted(
    input: BeginInput,
    { sweepInMs, mayWait = false }: HowToBegin,
  ): Promise<BeginResult> {
    const { sessionId } = input;
    const keepsTime = mayWait && (await isBusy(sessionId));
    // The index may be on another node than the session, so it is written before the run exists.
    const noted = keepsTime ? undefined : noteInBackground(store.due, sessionId, sweepInMs);
    const result = await store.runs.begin(input, noted);
    // The kept time was the former run's, and may be on no list any more.
    if (keepsTime && (await mayBeUnnoted(result, sessionId))) {
      await store.due.note(sessionId, sweepInMs);
    }
    return result;
  }

  /** Returns true also for the run of an earlier try, whose process may have died before the note. */
  async function mayBeUnnoted({ kind }: BeginResult, sessionId: string): Promise<boolean> {
    if (kind !== 'accepted') return kind === 'begun';
    return (await sessions.read(sessionId))?.status === 'starting';
  }

  async function isBusy(sessionId: string): Promise<boolean> {
    const record = await sessions.read(sessionId);
    return record !== undefined && (!isTerminal(record.status) || record.queued > 0);
  }

  async function accept(input: ExecuteInput, how: HowToBegin): Promise<BeginResult> {
    const { sessionId } = input;
    requireAgent(input.agent);
    const result = await beginNoted({ ...input, nonce: newNonce(), now: Date.now() }, how);
    if (result.kind === 'begun') {
      await requireStream(sessionId);
      how.begun(result.run, input);
    } else if (result.kind === 'queued' && result.begun) launch(result.begun, input.tenant);
    else if (result.kind === 'interrupting') deps.executeStop(sessionId, result.runId);
    return result;
  }

  /** Sweeps a silent run that holds up messages, since it may be lost; true if it did. */
  async function sweepSilent(sessionId: string, { mayWait = false }: HowToBegin): Promise<boolean> {
    const record = await sessions.read(sessionId);
    // A run that waits for people is silent for weeks, and callers retry all that time.
    if (record === undefined || (mayWait && record.stream === 'paused')) return false;
    const isSilent = Date.now() - record.updatedAt > LIMITS.silentMs;
    if (!isSilent && !isTerminal(record.status)) return false;
    await sweepSession(sessionId);
    return true;
  }

  async function executeBy(how: HowToBegin, input: ExecuteInput): Promise<BeginResult> {
    const result = await accept(input, how);
    if (!MAY_HOLD_UP.has(result.kind)) return result;
    const { sessionId } = input;
    const swept = await sweepSilent(sessionId, how).catch(lostSignal(sessionId));
    return swept === true && result.kind === 'busy' ? accept(input, how) : result;
  }

  const launched: HowToBegin = {
    begun: (run, { tenant, startAt }) => {
      launch(run, tenant, startAt);
    },
    sweepInMs: FIRST_SWEEP_MS,
  };
  const prepared = { begun: wakeSuperseded, sweepInMs: CALLER_STARTS_MS, mayWait: true };
  return {
    requireAgent,
    execute: (input) => executeBy(launched, input),
    prepare: (input) => executeBy(prepared, input),
  };
}
