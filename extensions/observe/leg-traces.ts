import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunOfWork } from '../../activities/extension.js';
import { rootOf } from '../../protocol/ids.js';
import { isTerminal } from '../../protocol/run.js';
import { legSpan, type FinishedSpan, type Tracer } from '../../protocol/telemetry.js';
import { isResting, type Event } from '../../runs/extension.js';
import type { SessionRecord, Sessions } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { toDelegateSpan, toLegSpan, toWaitSpan, type Leg, type LegEnd } from './leg-spans.js';

type Records = Pick<Store, 'sessions' | 'calls'>;

/** Traces the legs of runs. Tracing neither delays nor refuses anything. */
export interface LegTraces {
  tracer: Tracer;
  /** Executes work of a run's leg; log lines and `current` belong to it. */
  within: <T>(store: Records, run: RunOfWork, work: () => Promise<T>) => Promise<T>;
  /** Returns the leg of the calling work. */
  current: () => Leg | undefined;
  /** Writes the spans of runs whose part in a leg ends with a change, and of waits that it ends. */
  hear: (store: Records, events: readonly Event[]) => void;
}

/** The leg that the current work belongs to. One for the process: Node copies each storage to every promise. */
const legs = new AsyncLocalStorage<Leg | undefined>();

/** Maximum number of written spans that this process remembers. */
const MAX_WRITTEN = 2_000;

export function createLegTraces(tracer: Tracer): LegTraces {
  const written = new Set<string>();

  /**
   * Returns the current leg of a run; undefined if the run is not the newest one of its session. The
   * session of a sub-agent that is about to begin does not exist yet.
   *
   * @param agent name of the agent that carries out the run
   */
  async function readLeg(
    store: Records,
    { sessionId, runId, parent }: RunOfSession,
    agent?: string,
  ): Promise<Leg | undefined> {
    const { own, root } = await readLegRecords(store.sessions, { sessionId, runId });
    const isBeginning = agent !== undefined && parent !== undefined;
    if (root === undefined || (own === undefined && !isBeginning)) return undefined;
    const began = own?.leg?.at ?? own?.runStartedAt ?? Date.now();
    const above = own?.parent ?? parent;
    return {
      sessionId,
      runId,
      agent: own?.agent ?? agent ?? '',
      turn: root.turn,
      rootRunId: root.runId,
      number: legNumberOf(root),
      // A sub-agent begins within a leg.
      beganAt: Math.max(began, root.leg?.at ?? 0),
      usedBefore: own?.leg?.used,
      used: own?.usage,
      parent: above,
      // Once the conversation continues, its record names the next leg.
      above: above && (await readLeg(store, above)),
    };
  }

  /** Writes the spans of a run that is over, replaced, or whose conversation went on. */
  async function writeIfOver(store: Records, leg: Leg, atMs: number): Promise<void> {
    const { own, root } = await readLegRecords(store.sessions, leg);
    const isCurrent = own !== undefined && root !== undefined && legNumberOf(root) === leg.number;
    if (isCurrent && !isResting(own.status) && !isTerminal(own.status)) return;
    const end: LegEnd = isCurrent
      ? {
          status: own.status,
          used: own.usage,
          error: own.error?.code,
          atMs: Math.min(atMs, Math.max(own.updatedAt, root.updatedAt)),
        }
      : { used: own?.usage ?? leg.used, atMs };
    const { parent } = leg;
    const above = leg.above ?? (parent && (await readLeg(store, parent)));
    if (parent !== undefined && above !== undefined) {
      const call = await store.calls.read(parent.sessionId, parent.toolCallId);
      const toolName = call?.spec.toolName ?? leg.agent;
      writeOnce(toDelegateSpan(above, leg, { toolCallId: parent.toolCallId, toolName }, end));
    }
    writeOnce(toLegSpan(leg, end));
    // If this run waits for people, the one above may rest as well.
    if (above !== undefined && !(isCurrent && isTerminal(own.status))) {
      await writeIfOver(store, above, atMs);
    }
  }

  /** Writes a span once, although two calls that end at once may both find the run at rest. */
  function writeOnce(span: FinishedSpan): void {
    const { trace, span: name } = span.id;
    const key = `${trace} ${name}`;
    if (written.has(key)) return;
    if (written.size >= MAX_WRITTEN) written.delete(written.values().next().value ?? '');
    written.add(key);
    tracer.write(span);
  }

  /** Finds the run's part in the leg of the calling work, which knows more than the record. */
  function known(runId: string): Leg | undefined {
    let part = legs.getStore();
    while (part !== undefined && part.runId !== runId) part = part.above;
    return part;
  }

  return {
    tracer,
    within: async (store, { agent, traceparent, ...run }, work) => {
      const leg = await readLeg(store, run, agent).catch(() => undefined);
      for (let part = leg; part !== undefined; part = part.above) part.request = traceparent;
      if (leg === undefined) return legs.run(undefined, work);
      return legs.run(leg, () => tracer.within(legSpan(leg), work));
    },
    current: () => legs.getStore(),
    hear: (store, events) => {
      const over = new Set<Leg | undefined>();
      for (const event of events) {
        if (event.kind === 'wait_ended') tracer.write(toWaitSpan(event));
        else if (event.kind === 'work_over') over.add(legs.getStore());
        else if (event.kind === 'part_left') over.add(known(event.part.runId) ?? event.part);
      }
      for (const leg of over)
        if (leg !== undefined) writeIfOver(store, leg, Date.now()).catch(() => undefined);
    },
  };
}

interface RunOfSession {
  sessionId: string;
  runId: string;
  parent?: { sessionId: string; runId: string; toolCallId: string } | undefined;
}

/** Returns the records of a run and of its conversation, if they still exist. */
async function readLegRecords(
  sessions: Pick<Sessions, 'read'>,
  { sessionId, runId }: RunOfSession,
): Promise<{ own: SessionRecord | undefined; root: SessionRecord | undefined }> {
  const rootId = rootOf(sessionId);
  const [found, root] = await Promise.all([
    rootId === sessionId ? undefined : sessions.read(sessionId),
    sessions.read(rootId),
  ]);
  const own = rootId === sessionId ? root : found;
  return { own: own?.runId === runId ? own : undefined, root };
}

/** Number of the conversation's leg. */
function legNumberOf({ leg }: SessionRecord): number {
  return leg?.number ?? 1;
}
