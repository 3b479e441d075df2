import type { Registry } from 'prom-client';
import type { RunMeter } from '../../protocol/telemetry.js';
import type { Prometheus } from './prometheus.js';

const WAIT_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];

/** Counts effects of requests on runs, under the same names as in workers. */
export function createRunCounters(
  { Counter, Histogram }: Prometheus,
  registry: Registry,
): RunMeter {
  const registers = [registry];
  const ends = new Counter({
    name: 'helix_runs_ended_total',
    help: 'Runs that ended.',
    labelNames: ['agent', 'status', 'code'],
    registers,
  });
  const answers = new Counter({
    name: 'helix_answers_total',
    help: 'Answers of people and clients.',
    labelNames: ['decision', 'source'],
    registers,
  });
  // A counter that begins with its first event hides that event from `increase`.
  answers.inc({ decision: 'expired', source: 'auto' }, 0);
  const waits = new Histogram({
    name: 'helix_wait_duration_seconds',
    help: 'Time from a question to its answer.',
    labelNames: ['kind', 'decision'],
    buckets: WAIT_SECONDS,
    registers,
  });
  const sweeps = new Counter({
    name: 'helix_sweeps_total',
    help: 'Sessions that the sweeper had to repair.',
    labelNames: ['found'],
    registers,
  });
  const budgets = new Counter({
    name: 'helix_budgets_spent_total',
    help: 'Budgets that are spent.',
    labelNames: ['of', 'period'],
    registers,
  });
  for (const whose of ['user', 'tenant']) {
    for (const period of ['day', 'month']) budgets.inc({ of: whose, period }, 0);
  }
  return (event) => {
    switch (event.kind) {
      case 'run_ended': {
        const { agent, status, code = '' } = event;
        ends.inc({ agent, status, code });
        return;
      }
      case 'call_answered': {
        const { asked, decision, source, waitedSeconds } = event;
        answers.inc({ decision, source });
        if (waitedSeconds !== undefined) waits.observe({ kind: asked, decision }, waitedSeconds);
        return;
      }
      case 'budget_spent':
        budgets.inc({ of: event.of, period: event.period });
        return;
      case 'session_swept':
        sweeps.inc({ found: event.found });
        return;
      default:
      // Only workers emit the other events.
    }
  };
}
