import type { Registry } from 'prom-client';
import { NO_METRICS, type ApiMetrics, type StreamMeter } from '../../api/extension.js';
import { MissingPackageError } from '../../protocol/optional-package.js';
import type { Pauses } from '../../store/contract/pauses.js';
import type { Waiting, WaitingStanding } from '../../store/contract/waiting.js';
import { loadPrometheus, type Prometheus } from './prometheus.js';
import { createRunCounters } from './run-counters.js';
import { addPauseGauges, addQuestionGauge, addWaitingGauges } from './waiting-gauges.js';

export interface ApiMetricsOptions {
  processMetrics?: boolean;
  standing?: () => Promise<WaitingStanding>;
  questions?: Waiting['questions'];
  pauses?: Pick<Pauses, 'list' | 'held'> | undefined;
}

const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const STREAM_SECONDS = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];

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
  const prometheus = loadPrometheus();
  const { collectDefaultMetrics, Counter, Histogram, Registry } = prometheus;
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'helix_http_requests_total',
    help: 'Requests answered, by route pattern.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'helix_http_request_duration_seconds',
    help: 'Time until a reply was complete, without streams.',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const lifetimes = new Histogram({
    name: 'helix_stream_duration_seconds',
    help: 'How long streams were open.',
    labelNames: ['route'],
    buckets: STREAM_SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: 'helix_refusals_total',
    help: 'Requests refused, by error code; too_many_requests and too_many_streams are the limits.',
    labelNames: ['code'],
    registers,
  });
  const begun = new Counter({
    name: 'helix_runs_begun_total',
    help: 'Runs that requests to this process began; those of waiting messages are begun by workers.',
    labelNames: ['agent'],
    registers,
  });
  const streams = createStreamMeter(prometheus, registry);
  const runs = createRunCounters(prometheus, registry);
  if (options.standing !== undefined) addWaitingGauges(prometheus, registry, options.standing);
  if (options.questions !== undefined) {
    addQuestionGauge(prometheus, registry, options.questions);
  }
  if (options.pauses !== undefined) addPauseGauges(prometheus, registry, options.pauses);

  return {
    contentType: registry.contentType,
    read: () => registry.metrics(),
    answered: ({ method, route, status, seconds, isStream }) => {
      requests.inc({ method, route, status });
      if (isStream) lifetimes.observe({ route }, seconds);
      else durations.observe({ method, route }, seconds);
    },
    refused: (code) => {
      refusals.inc({ code });
    },
    begun: (agent) => {
      begun.inc({ agent });
    },
    streams,
    runs,
  };
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

function createStreamMeter({ Counter, Gauge }: Prometheus, registry: Registry): StreamMeter {
  const now: StreamMeter = { open: 0, writes: 0, characters: 0 };
  const registers = [registry];
  new Gauge({
    name: 'helix_open_streams',
    help: 'Streams that are open now.',
    registers,
    collect() {
      this.set(now.open);
    },
  });
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
  total('helix_stream_writes_total', 'Writes to streams: what arrived together.', () => now.writes);
  total('helix_stream_characters_total', 'Characters written to streams.', () => now.characters);
  return now;
}
