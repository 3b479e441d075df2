import { AsyncLocalStorage } from 'node:async_hooks';
import { isTerminal } from '../../protocol/run.js';
import { legSpan, type FinishedSpan, type Tracer } from '../../protocol/telemetry.js';
import type { RunOfWork } from '../../activities/extension.js';
import type { Event } from '../../runs/extension.js';
import type { Store } from '../../store/contract/store.js';
import { toDelegateSpan, toLegSpan, toWaitSpan, type LegEnd } from './leg-spans.js';
import { isLeft, legNumberOf, readLegRecords, toLeg, type Leg, type RunOfSession } from './legs.js';

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
const MOST_WRITTEN = 2_000;

export function createLegTraces(tracer: Tracer): LegTraces {
  const written = new Set<string>();

  async function readLeg(
    store: Records,
    run: RunOfSession,
    agent?: string,
  ): Promise<Leg | undefined> {
    const records = await readLegRecords(store.sessions, run);
    if (records.own === undefined && agent === undefined) return undefined;
    const leg = toLeg(run, agent ?? '', records, Date.now());
    // Once the conversation continues, its record names the next leg.
    return leg && { ...leg, above: leg.parent && (await readLeg(store, leg.parent)) };
  }

  async function begin(
    store: Records,
    { agent, traceparent, ...run }: RunOfWork,
  ): Promise<Leg | undefined> {
    const leg = await readLeg(store, run, agent).catch(() => undefined);
    for (let part = leg; part !== undefined; part = part.above) part.request = traceparent;
    return leg;
  }

  /** Writes the spans of a run that is over, replaced, or whose conversation went on. */
  async function writeIfOver(store: Records, leg: Leg, atMs: number): Promise<void> {
    const { own, root } = await readLegRecords(store.sessions, leg);
    const isCurrent = own !== undefined && root !== undefined && legNumberOf(root) === leg.number;
    if (isCurrent && !isLeft(own.status)) return;
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
    if (written.size >= MOST_WRITTEN) written.delete(written.values().next().value ?? '');
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
    within: async (store, run, work) => {
      const leg = await begin(store, run);
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
