import type { Registry } from 'prom-client';
import { withTimeout } from '../../protocol/time.js';
import type { Pauses } from '../../store/contract/pauses.js';
import type { Waiting, WaitingStanding } from '../../store/contract/waiting.js';
import type { Prometheus } from './prometheus.js';

/** A scrape does not wait longer than this for the store. */
const READ_MS = 1_000;
/** Most conversations per count of questions, and lifetime of a count. */
const MOST = 1_000;
const COUNT_AGAIN_MS = 10_000;

/**
 * Adds gauges of waiting conversations, read at each scrape. Every API process shows the same
 * values: take their maximum. The gauges are absent while the store does not answer.
 */
export function addWaitingGauges(
  { Gauge }: Prometheus,
  registry: Registry,
  readStanding: () => Promise<WaitingStanding>,
): void {
  let reading: Promise<WaitingStanding | undefined> | undefined;
  /** Both gauges of one scrape share a read. */
  const read = (): Promise<WaitingStanding | undefined> => {
    reading ??= withTimeout(READ_MS, readStanding())
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const gauge = (
    name: string,
    help: string,
    toValue: (standing: WaitingStanding) => number,
  ): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const standing = await read();
        if (standing === undefined) this.remove();
        else this.set(toValue(standing));
      },
    });
  };
  gauge('helix_waiting_conversations', 'Conversations that wait for people.', ({ count }) => count);
  gauge(
    'helix_oldest_wait_seconds',
    'Age of the question that has waited longest; 0 without one.',
    ({ oldest }) => (oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1_000),
  );
}

/**
 * Adds a gauge of open questions by agent and kind, counted at most every ten seconds, since a count
 * reads each conversation.
 */
export function addQuestionGauge(
  { Gauge }: Prometheus,
  registry: Registry,
  readQuestions: NonNullable<Waiting['questions']>,
): void {
  let counted: { at: number; questions: ReturnType<typeof readQuestions> } | undefined;
  new Gauge({
    name: 'helix_waiting_calls',
    help: 'Questions that wait for an answer, of the thousand conversations that wait longest.',
    labelNames: ['agent', 'kind'],
    registers: [registry],
    async collect() {
      const now = Date.now();
      if (counted === undefined || now - counted.at >= COUNT_AGAIN_MS) {
        counted = { at: now, questions: readQuestions(MOST) };
      }
      const questions = await withTimeout(READ_MS, counted.questions).catch(() => undefined);
      if (questions === undefined) counted = undefined;
      this.reset();
      for (const { agent, kind, count } of questions ?? []) this.set({ agent, kind }, count);
    },
  });
}

/** Adds gauges of paused agents and held runs; every API process shows the same values. */
export function addPauseGauges(
  { Gauge }: Prometheus,
  registry: Registry,
  { list, held }: Pick<Pauses, 'list' | 'held'>,
): void {
  new Gauge({
    name: 'helix_paused_agents',
    help: 'Pauses of agents: of a tenant, or over all.',
    labelNames: ['agent'],
    registers: [registry],
    async collect() {
      const paused = await withTimeout(READ_MS, list()).catch(() => []);
      this.reset();
      for (const { agent } of paused) this.inc({ agent });
    },
  });
  new Gauge({
    name: 'helix_held_runs',
    help: 'Runs that start when their agent is resumed.',
    labelNames: ['agent'],
    registers: [registry],
    async collect() {
      const found = await withTimeout(READ_MS, held()).catch(() => []);
      this.reset();
      for (const { agent, count } of found) this.inc({ agent }, count);
    },
  });
}
