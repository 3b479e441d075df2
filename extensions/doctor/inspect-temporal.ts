import { Connection, isGrpcServiceError, type ConnectionOptions } from '@temporalio/client';
import { type ClockReading, sleep } from '../../protocol/time.js';
import { toReason } from '../../protocol/errors.js';
import { scheduleIdOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { SEARCH_ATTRIBUTES, toolQueueOf, WORKFLOW_TYPE } from '../../protocol/temporal.js';
import { lastPoll } from '../../runs/workers.js';
import { quote, toMs } from '../../runs/temporal-calls.js';
import { INDEXED_VALUE_TYPE, routeTo } from '../../runs/search-attributes.js';

/** A fact, or the error that kept it from being found. */
export type Finding<T> = { value: T } | { refusal: Refusal };

export interface Refusal {
  /** gRPC status; 2 (unknown) for other errors. */
  status: number;
  message: string;
}

export interface TemporalFacts {
  serverVersion: string;
  /** How long it keeps closed runs; 0 if the server does not say. */
  namespace: Finding<{ retentionMs: number }>;
  /** State of each search attribute on the server, by name. */
  searchAttributes: Finding<Record<string, 'present' | 'missing' | 'other type'>>;
  /** Times of the last polls for runs and tool calls, by the server's clock; 0: none for minutes. */
  pollers: Finding<{ runs: number; tools: number }>;
  /** Ids of the keys of the newest and longest running runs' inputs and of schedules; null for one that is not encrypted. */
  payloadKeys: Finding<(string | null)[]>;
  clock: Finding<ClockReading>;
}

export interface InspectTemporalOptions {
  connection: ConnectionOptions;
  namespace: string;
  taskQueue: string;
  /** Time limit of each call. Default 5,000. */
  withinMs?: number;
}

const RUNS = 10;
/** Bounds of the ages, s, among which the oldest running runs are searched, and the most queries. */
const [YOUNGEST, OLDEST, QUERIES] = [1, 3e8, 12] as const;
const UNKNOWN = 2;

/** Inspects a Temporal server with the credentials of API and worker, and changes nothing there. */
export async function inspectTemporal({
  connection: options,
  namespace,
  taskQueue,
  withinMs = 5_000,
}: InspectTemporalOptions): Promise<Finding<TemporalFacts>> {
  // An eager connection, or a retry, would hide the reason of a failure.
  let connection: Connection;
  try {
    connection = Connection.lazy({ ...options, interceptors: [] });
  } catch (error) {
    // This line reads certificates and keys.
    return { refusal: { status: UNKNOWN, message: toReason(error) } };
  }
  const { workflowService, operatorService } = connection;
  const ask = <T>(call: () => Promise<T>): Promise<Finding<T>> =>
    toFinding(connection.withDeadline(Date.now() + withinMs, call));

  const readLastPoll = async (name: string, taskQueueType: number): Promise<number> => {
    const queue = { namespace, taskQueue: { name }, taskQueueType };
    return lastPoll((await workflowService.describeTaskQueue(queue)).pollers);
  };

  async function readPollers(): Promise<{ runs: number; tools: number }> {
    const [runs, tools] = await Promise.all([
      readLastPoll(taskQueue, 1),
      readLastPoll(toolQueueOf(taskQueue), 2),
    ]);
    return { runs, tools };
  }

  async function readAttributes(): Promise<Record<string, 'present' | 'missing' | 'other type'>> {
    const { customAttributes } = await connection.withMetadata(routeTo(namespace), () =>
      operatorService.listSearchAttributes({ namespace }),
    );
    const present: Record<string, number | undefined> = customAttributes;
    return Object.fromEntries(
      Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => {
        if (present[name] === undefined) return [name, 'missing'];
        return [name, present[name] === INDEXED_VALUE_TYPE[type] ? 'present' : 'other type'];
      }),
    );
  }

  async function readNamespace(): Promise<{ retentionMs: number }> {
    const { config } = await workflowService.describeNamespace({ namespace });
    return { retentionMs: toMs(config?.workflowExecutionRetentionTtl) };
  }

  const listRuns = async (age = 0) => {
    const before = new Date(Date.now() - age * 1_000).toISOString();
    // Other fleets of this namespace have their own keys.
    const running = `WorkflowType = '${WORKFLOW_TYPE}' AND ExecutionStatus = 'Running' AND TaskQueue = ${quote(taskQueue)}`;
    const query = age === 0 ? running : `${running} AND StartTime < '${before}'`;
    const page = { namespace, pageSize: RUNS, query };
    return (await workflowService.listWorkflowExecutions(page)).executions;
  };

  /** The longest running have the oldest keys. Temporal lists the newest first, in no other order. */
  async function listOldestRuns(newest: Awaited<ReturnType<typeof listRuns>>) {
    let oldest = newest;
    let [young, old]: [number, number] = [YOUNGEST, OLDEST];
    for (let n = 0; n < QUERIES && oldest.length === RUNS; n += 1) {
      const age = Math.sqrt(young * old);
      const found = await listRuns(age);
      if (found.length === 0) old = age;
      else [young, oldest] = [age, found];
    }
    return oldest;
  }

  const readRunKey = async (execution: { workflowId?: string | null } | null | undefined) => {
    const page = { namespace, execution, maximumPageSize: 1 };
    const { history } = await workflowService.getWorkflowExecutionHistory(page);
    const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    return toKeyId(started?.input?.payloads?.[0]);
  };

  async function readScheduleKeys(): Promise<(string | null)[]> {
    const query = `ScheduleId STARTS_WITH ${quote(scheduleIdOf(taskQueue, '', '').slice(0, -1))}`;
    const page = { namespace, query, maximumPageSize: LIMITS.schedules };
    // A server that does not find schedules by their ids has none.
    const found = await workflowService.listSchedules(page).catch(() => ({ schedules: [] }));
    return found.schedules.map(({ memo }) => toKeyId(memo?.fields?.['about']));
  }

  async function readPayloadKeys(): Promise<(string | null)[]> {
    const newest = await listRuns();
    const runs = [...newest, ...(await listOldestRuns(newest))];
    const ids = await Promise.all(runs.map(({ execution }) => readRunKey(execution)));
    return [...new Set([...ids, ...(await readScheduleKeys())])];
  }

  try {
    const system = await ask(() => workflowService.getSystemInfo({}));
    if ('refusal' in system) return system;
    const [description, searchAttributes, pollers, payloadKeys, clock] = await Promise.all([
      ask(readNamespace),
      ask(readAttributes),
      ask(readPollers),
      ask(readPayloadKeys),
      toFinding(readTemporalClock(connection, namespace)),
    ]);
    return {
      value: {
        serverVersion: system.value.serverVersion,
        namespace: description,
        searchAttributes,
        pollers,
        payloadKeys,
        clock,
      },
    };
  } finally {
    await connection.close();
  }
}

function toKeyId(payload: { metadata?: Record<string, Uint8Array> | null } | null | undefined) {
  const id = payload?.metadata?.['encryption-key-id'];
  return id == null ? null : Buffer.from(id).toString();
}

function toFinding<T>(work: Promise<T>): Promise<Finding<T>> {
  return work.then(
    (value) => ({ value }),
    (error: unknown) => ({ refusal: toRefusal(error) }),
  );
}

function toRefusal(error: unknown): Refusal {
  if (isGrpcServiceError(error)) return { status: error.code, message: toCause(error.details) };
  return { status: UNKNOWN, message: error instanceof Error ? error.message : String(error) };
}

/** Extracts the reason of a failed connection from the texts of the libraries. */
function toCause(details: string): string {
  const [, cause = details] =
    /Last error: (?:Error: )?(.*?)\. Resolution note/s.exec(details) ?? [];
  const [, alert] = /:SSL routines:[^:]*:([^:]+):/.exec(cause) ?? [];
  return alert ?? cause.replace(/ \([\dTZ:.-]+\)$/, '').replace(/\.$/, '');
}

/** Task queue for the clock alone; it never has a task. */
const QUEUE = { name: 'helix-doctor', kind: 1 } as const;

const WITHIN_MS = 3_000;

const LOOK_EVERY_MS = 25;

/**
 * Reads the clock of a Temporal server. No call of its API replies with the time, but the server
 * notes the time of each poll, so this function polls, reads that time, and leaves.
 *
 * @throws Error of the server, or if the server does not list the poller in time
 */
async function readTemporalClock(connection: Connection, namespace: string): Promise<ClockReading> {
  const { workflowService } = connection;
  const identity = `helix-doctor-${crypto.randomUUID()}`;
  const left = new AbortController();
  const askedAt = Date.now();
  const deadline = askedAt + WITHIN_MS;
  let refusal: Error | undefined;
  const poll = connection
    .withAbortSignal(left.signal, () =>
      connection.withDeadline(deadline, () =>
        workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: QUEUE, identity }),
      ),
    )
    .catch((error: unknown) => {
      refusal = error instanceof Error ? error : new Error(String(error));
    });
  try {
    while (refusal === undefined && Date.now() < deadline) {
      const { pollers } = await connection.withDeadline(deadline, () =>
        workflowService.describeTaskQueue({ namespace, taskQueue: QUEUE }),
      );
      const repliedAt = Date.now();
      const own = pollers.find((poller) => poller.identity === identity);
      if (own !== undefined) return { at: toMs(own.lastAccessTime), askedAt, repliedAt };
      await sleep(LOOK_EVERY_MS);
    }
    throw refusal ?? new Error('the server does not list pollers');
  } finally {
    left.abort();
    await poll;
  }
}
