import type { Client } from '@temporalio/client';
import type { PayloadCodec, DataConverter } from '@temporalio/common';
import type { AgentRegistry } from '../agents/index.js';
import type { Notice } from '../protocol/notices.js';
import type { RequestTracer, RunMeter } from '../protocol/telemetry.js';
import type { Event } from '../session/events.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import type { AuditLogger } from './record/listeners.js';
import type { Deliveries } from './deliveries.js';

export { toNoticeId, type Deliveries } from './deliveries.js';
export type { Event, RunPart } from '../session/events.js';
export { isResting } from '../session/record.js';
export { toAct } from './record/acts.js';
export { logEntries } from './record/listeners.js';
export { isRefusedForGood, quote, toMs, withinDeadline, type Timestamp } from './temporal-calls.js';

export interface TemporalHost {
  client: Client;
  taskQueue: string;
  /** False if runs have no search attributes, by which they are listed. */
  searchAttributes: boolean;
}

export interface RunsHost {
  store: Store;
  agents: AgentRegistry;
  /** Name of the workers of one task queue in one namespace. */
  fleet: string;
  meter: RunMeter;
  logger: AuditLogger;
  /** Notifies receivers; absent without receivers. */
  notify?: ((notice: Notice) => Promise<void>) | undefined;
  /** Absent if Temporal does not execute the runs. */
  temporal?: TemporalHost | undefined;
}

/** A request that begins a run or copies a conversation. */
export interface AdmitInput extends SessionOwner {
  sessionId: string;
  /**
   * `run` starts a run or queues behind one; `alone` starts a run, or does nothing while one is
   * active; `copy` starts none.
   */
  purpose: 'run' | 'alone' | 'copy';
  /** Bytes that the request stores. */
  bytes: number;
}

/** Keeps the last extension of each name, so that an addition to a list can replace one. */
export function lastOfEach<E extends { readonly name: string }>(
  extensions: readonly E[] = [],
): E[] {
  return [...new Map(extensions.map((each) => [each.name, each])).values()];
}

/** An extension wherever runs begin and change: web servers, workers and one process alike. */
export interface RunsExtension {
  readonly name: string;
  /** Called once, when a process composes its runs. */
  start?: (host: RunsHost) => void;
  /**
   * Gets the events of a conversation's change after its commit. A process that dies in between
   * skips it, so a sweep must find what must not be lost.
   */
  listener?: (sessionId: string, events: readonly Event[], host: RunsHost) => void | Promise<void>;
  /**
   * Called before a run begins or a conversation is copied; its result is called once that is done
   * or has failed.
   *
   * @throws HelixError to refuse it; a message that was accepted before is not refused
   */
  before?: (begin: AdmitInput, host: RunsHost) => Promise<(() => void) | undefined>;
  /**
   * Forgets a person, before the person's conversations are erased.
   *
   * @throws HelixError `unavailable`: the erasure is not complete and sent again
   */
  forget?: (who: SessionOwner, host: RunsHost) => Promise<void>;
  /** Notifies people and programs outside of conversations; one extension of a process may. */
  deliveries?: (temporal: RunsHost['temporal']) => Deliveries | undefined;
  /** Gives requests their traces; of one extension of a process. */
  tracer?: RequestTracer;
  /** Encodes the payloads of runs in Temporal. */
  payloadCodec?: RunsCodec | undefined;
}

interface RunsCodec extends PayloadCodec {
  /** It leaves payloads as they are, and only refuses those that it cannot read; others replace it. */
  isPlain?: true;
}

export function tracerOf(
  extensions: readonly Pick<RunsExtension, 'tracer'>[] = [],
): RequestTracer | undefined {
  return extensions.find(({ tracer }) => tracer !== undefined)?.tracer;
}
export type { AgentPauses, PauseRequest } from './agent-pauses.js';

/** Returns true if payloads are stored in another form than the SDK's. */
export function hasCodec(
  converter: { payloadCodecs?: readonly RunsCodec[] | undefined } | undefined,
): boolean {
  return (converter?.payloadCodecs ?? []).some(({ isPlain }) => isPlain !== true);
}

export function withCodecs(
  dataConverter: DataConverter | undefined,
  extensions: readonly Pick<RunsExtension, 'payloadCodec'>[] = [],
): DataConverter | undefined {
  const codecs = extensions.flatMap(({ payloadCodec }) => payloadCodec ?? []);
  if (codecs.length === 0) return dataConverter;
  const all: RunsCodec[] = [...codecs, ...(dataConverter?.payloadCodecs ?? [])];
  const encoding = all.filter(({ isPlain }) => isPlain !== true);
  return { ...dataConverter, payloadCodecs: encoding.length > 0 ? encoding : all };
}
