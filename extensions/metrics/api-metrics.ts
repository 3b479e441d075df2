import { createRequire } from 'node:module';
import type * as prometheus from 'prom-client';
import type { Gauge } from 'prom-client';
import { NO_METRICS, type ApiMetrics, type StreamMeter } from '../../api/extension.js';
import { MissingPackageError, orMissing } from '../../protocol/errors.js';
import { withTimeout } from '../../protocol/time.js';
import type { Pauses } from '../../store/contract/pauses.js';
import type { Waiting, WaitingStanding } from '../../store/contract/waiting.js';
import { createRunCounts, WAITS } from './core-meter.js';

export interface ApiMetricsOptions {
  processMetrics?: boolean;
  standing?: () => Promise<WaitingStanding>;
  questions?: Waiting['questions'];
  pauses?: Pick<Pauses, 'list' | 'held'> | undefined;
}

const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const STREAM_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

/** Adds a gauge whose value is read at each scrape. */
type AddGauge = (
  name: string,
  help: string,
  collect: (gauge: Gauge) => Promise<void> | void,
  labelNames?: string[],
) => void;

/**
 * Creates the metrics of one API process. `processMetrics` adds those of Node itself; use it once
 * per process. `standing` (`stores.store.waiting.standing`) adds waiting conversations, `questions`
 * (`…waiting.questions`) open questions by agent, `pauses` (`stores.store.pauses.of(…)`) paused
 * agents.
 *
 * @throws MissingPackageError without `prom-client`
 * @example
 * import { createApiMetrics } from 'helix-temporal/api';
 *
 * const metrics = createApiMetrics({ processMetrics: true });
 * console.log(await metrics.read());
 */
export function createApiMetrics(options: ApiMetricsOptions = {}): ApiMetrics {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = loadPrometheus();
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name, help, labelNames, registers });
  const seconds = (name: string, help: string, labelNames: readonly string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const addGauge: AddGauge = (name, help, collect, labelNames = []) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        return collect(this);
      },
    });
  };

  const requests = counter('helix_http_requests_total', 'Requests answered, by route pattern.', [
    'method',
    'route',
    'status',
  ]);
  const durations = seconds(
    'helix_http_request_duration_seconds',
    'Time until a reply was complete, without streams.',
    ['method', 'route'],
    REQUEST_SECONDS,
  );
  const lifetimes = seconds(
    'helix_stream_duration_seconds',
    'How long streams were open.',
    ['route'],
    STREAM_SECONDS,
  );
  const refusals = counter(
    'helix_refusals_total',
    'Requests refused, by error code; too_many_requests and too_many_streams are the limits.',
    ['code'],
  );
  const begun = counter(
    'helix_runs_begun_total',
    'Runs that requests to this process began; those of waiting messages are begun by workers.',
    ['agent'],
  );
  const runs = createRunCounts({
    count: (name, help, labelNames) => {
      const counted = counter(`${name}_total`, help, labelNames);
      return (value, labels = {}) => counted.inc(labels, value);
    },
    seconds: (name, help, labelNames) => {
      const timed = seconds(name, help, labelNames, WAITS);
      return (value, labels = {}) => timed.observe(labels, value);
    },
  });

  const streams: StreamMeter = { open: 0, writes: 0, characters: 0 };
  addGauge('helix_open_streams', 'Streams that are open now.', (gauge) => gauge.set(streams.open));
  const total = (name: string, help: string, read: () => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  };
  total(
    'helix_stream_writes_total',
    'Writes to streams: what arrived together.',
    () => streams.writes,
  );
  total(
    'helix_stream_characters_total',
    'Characters written to streams.',
    () => streams.characters,
  );
  if (options.standing !== undefined) addWaitingGauges(addGauge, options.standing);
  if (options.questions !== undefined) addQuestionGauge(addGauge, options.questions);
  if (options.pauses !== undefined) addPauseGauges(addGauge, options.pauses);

  return {
    contentType: registry.contentType,
    read: () => registry.metrics(),
    answered: ({ method, route, status, seconds: tookSeconds, isStream }) => {
      requests.inc({ method, route, status });
      if (isStream) lifetimes.observe({ route }, tookSeconds);
      else durations.observe({ method, route }, tookSeconds);
    },
    refused: (code) => refusals.inc({ code }),
    begun: (agent) => begun.inc({ agent }),
    streams,
    runs,
  };
}

/** Loads at once, since counting begins with the first request. @throws MissingPackageError */
function loadPrometheus(): typeof prometheus {
  try {
    return createRequire(import.meta.url)('prom-client') as typeof prometheus;
  } catch (error) {
    return orMissing('The meter of the API', 'prom-client@15')(error);
  }
}

/** Creates metrics, which count nothing and cannot be read without the package `prom-client`. */
export function createMetricsIfInstalled(options: ApiMetricsOptions = {}): ApiMetrics {
  try {
    return createApiMetrics(options);
  } catch (error) {
    if (!(error instanceof MissingPackageError)) throw error;
    return { ...NO_METRICS, read: () => Promise.reject(error) };
  }
}

/** A scrape does not wait longer than this for the store. */
const READ_MS = 1_000;
/** Most conversations per count of questions, and lifetime of a count. */
const MAX = 1_000;
const COUNT_AGAIN_MS = 10_000;

/**
 * Adds gauges of waiting conversations. Every API process shows the same values: take their maximum.
 * The gauges are absent while the store does not answer.
 */
function addWaitingGauges(addGauge: AddGauge, readStanding: () => Promise<WaitingStanding>): void {
  let reading: Promise<WaitingStanding | undefined> | undefined;
  const add = (name: string, help: string, toValue: (standing: WaitingStanding) => number): void =>
    addGauge(name, help, async (gauge) => {
      // Both gauges of one scrape share a read.
      reading ??= withTimeout(READ_MS, readStanding())
        .catch(() => undefined)
        .finally(() => {
          reading = undefined;
        });
      const standing = await reading;
      if (standing === undefined) gauge.remove();
      else gauge.set(toValue(standing));
    });
  add('helix_waiting_conversations', 'Conversations that wait for people.', ({ count }) => count);
  add(
    'helix_oldest_wait_seconds',
    'Age of the question that has waited longest; 0 without one.',
    ({ oldest }) => (oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1_000),
  );
}

/** Counts at most every ten seconds, since a count reads each conversation. */
function addQuestionGauge(
  addGauge: AddGauge,
  readQuestions: NonNullable<Waiting['questions']>,
): void {
  let counted: { at: number; questions: ReturnType<typeof readQuestions> } | undefined;
  addGauge(
    'helix_waiting_calls',
    'Questions that wait for an answer, of the thousand conversations that wait longest.',
    async (gauge) => {
      const now = Date.now();
      if (counted === undefined || now - counted.at >= COUNT_AGAIN_MS) {
        counted = { at: now, questions: readQuestions(MAX) };
      }
      const questions = await withTimeout(READ_MS, counted.questions).catch(() => undefined);
      if (questions === undefined) counted = undefined;
      gauge.reset();
      for (const { agent, kind, count } of questions ?? []) gauge.set({ agent, kind }, count);
    },
    ['agent', 'kind'],
  );
}

/** Adds gauges of paused agents and held runs; every API process shows the same values. */
function addPauseGauges(addGauge: AddGauge, { list, held }: Pick<Pauses, 'list' | 'held'>): void {
  addGauge(
    'helix_paused_agents',
    'Pauses of agents: of a tenant, or over all.',
    async (gauge) => {
      const paused = await withTimeout(READ_MS, list()).catch(() => []);
      gauge.reset();
      for (const { agent } of paused) gauge.inc({ agent });
    },
    ['agent'],
  );
  addGauge(
    'helix_held_runs',
    'Runs that start when their agent is resumed.',
    async (gauge) => {
      const found = await withTimeout(READ_MS, held()).catch(() => []);
      gauge.reset();
      for (const { agent, count } of found) gauge.inc({ agent }, count);
    },
    ['agent'],
  );
}
