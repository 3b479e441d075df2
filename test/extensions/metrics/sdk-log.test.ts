import { createCollectorLines } from '../../../config/collector-lines.js';
import { createSdkLog } from '../../../extensions/metrics/worker-process.js';
import { until } from '../../support/until.js';

function open(quietMs = 60_000) {
  const lines: string[] = [];
  const keep = (_: object, text: string): void => void lines.push(text);
  const logger = { info: keep, warn: keep, error: keep } as never;
  const setting = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const url = 'http://collector:4318/v1/metrics';
  const collector = createCollectorLines(logger, { what: 'metrics', setting, url });
  return { lines, log: createSdkLog(logger, { lines: collector, quietMs }) };
}

it('a collector of metrics that is away is one line, which names the setting', () => {
  const { lines, log } = open();
  for (let at = 0; at < 5; at += 1) {
    log.warn('OTLP metric export failed; metrics may be dropped', { error: 'network error' });
  }
  log.warn('Activity failed', { error: new Error('a fault') });
  log.warn('No workflows registered for worker');
  expect(lines).toEqual([
    'The collector at http://collector:4318/v1/metrics does not take metrics: start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Runs are not affected.',
    'Activity failed',
  ]);
});

it('a collector of metrics counts as back once no export has failed for a while', async () => {
  const { lines, log } = open(20);
  const miss = (): void => {
    log.warn('OTLP metric export failed; metrics may be dropped', { error: 'network error' });
  };
  miss();
  await until('it is back', () => Promise.resolve(lines.length === 2));
  expect(lines[1]).toBe('The collector at http://collector:4318/v1/metrics takes metrics again.');
  miss();
  expect(lines).toHaveLength(3);
});
