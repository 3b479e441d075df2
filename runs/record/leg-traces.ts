import { AsyncLocalStorage } from 'node:async_hooks';
import { isTerminal } from '../../protocol/run.js';
import type { FinishedSpan, Tracer } from '../../protocol/telemetry.js';
import type { Listener } from '../../store/change.js';
import type { Store } from '../../store/contract/store.js';
import { legSpan, toDelegateSpan, toLegSpan, toWaitSpan, type LegEnd } from './leg-spans.js';
import { isLeft, legNumberOf, readLegRecords, toLeg, type Leg, type RunOfSession } from './legs.js';

/** Traces the legs of runs. Tracing neither delays nor refuses anything. */
export interface LegTraces {
  tracer: Tracer;
  /** Executes work of a run's leg; log lines and `current` belong to it. */
  within: <T>(run: RunOfWork, work: () => Promise<T>) => Promise<T>;
  /** Returns the leg of the calling work. */
  current: () => Leg | undefined;
  /** Writes the spans of runs whose part in a leg ends with a change, and of waits that it ends. */
  listener: Listener;
  write: (span: FinishedSpan) => void;
}

/** A run, as its activity knows it. */
export interface RunOfWork extends RunOfSession {
  agent: string;
  /** `traceparent` of the request that began the leg. */
  traceparent?: string | undefined;
}

/** Maximum number of written spans that this process remembers. */
const MOST_WRITTEN = 2_000;

export function createLegTraces(
  { sessions, calls }: Pick<Store, 'sessions' | 'calls'>,
  tracer: Tracer,
): LegTraces {
  const legs = new AsyncLocalStorage<Leg | undefined>();
  const written = new Set<string>();

  async function readLeg(run: RunOfSession, agent?: string): Promise<Leg | undefined> {
    const records = await readLegRecords(sessions, run);
    if (records.own === undefined && agent === undefined) return undefined;
    const leg = toLeg(run, agent ?? '', records, Date.now());
    // Once the conversation continues, its record names the next leg.
    return leg && { ...leg, above: leg.parent && (await readLeg(leg.parent)) };
  }

  async function begin({ agent, traceparent, ...run }: RunOfWork): Promise<Leg | undefined> {
    const leg = await readLeg(run, agent).catch(() => undefined);
    for (let part = leg; part !== undefined; part = part.above) part.request = traceparent;
    return leg;
  }

  /** Writes the spans of a run that is over, replaced, or whose conversation went on. */
  async function writeIfOver(leg: Leg, atMs: number): Promise<void> {
    const { own, root } = await readLegRecords(sessions, leg);
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
    const above = leg.above ?? (parent && (await readLeg(parent)));
    if (parent !== undefined && above !== undefined) {
      const call = await calls.read(parent.sessionId, parent.toolCallId);
      const toolName = call?.spec.toolName ?? leg.agent;
      writeOnce(toDelegateSpan(above, leg, { toolCallId: parent.toolCallId, toolName }, end));
    }
    writeOnce(toLegSpan(leg, end));
    // If this run waits for people, the one above may rest as well.
    if (above !== undefined && !(isCurrent && isTerminal(own.status))) {
      await writeIfOver(above, atMs);
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
    within: async (run, work) => {
      const leg = await begin(run);
      if (leg === undefined) return legs.run(undefined, work);
      return legs.run(leg, () => tracer.within(legSpan(leg), work));
    },
    current: () => legs.getStore(),
    listener: (_sessionId, events) => {
      const over = new Set<Leg | undefined>();
      for (const event of events) {
        if (event.kind === 'wait_ended') tracer.write(toWaitSpan(event));
        else if (event.kind === 'work_over') over.add(legs.getStore());
        else if (event.kind === 'part_left') over.add(known(event.part.runId) ?? event.part);
      }
      for (const leg of over)
        if (leg !== undefined) writeIfOver(leg, Date.now()).catch(() => undefined);
    },
    write: tracer.write,
  };
}
