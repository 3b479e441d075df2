import { startProcess } from '../support/process.js';
import { newSessionId, sharedTemporal } from '../support/product.js';
import { sharedRedisUrl } from '../support/test-stores.js';

describe('traces', () => {
  it.each([
    ['localhost:4318', 'OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins with http'],
    ['no address', 'OTEL_EXPORTER_OTLP_ENDPOINT must be an address that begins with http'],
  ])('the address "%s" is refused with a sentence', async (address, sentence) => {
    for (const role of ['api', 'worker'] as const) {
      const started = startProcess(role, { OTEL_EXPORTER_OTLP_ENDPOINT: address });
      expect(await started.exitCode).toBe(1);
      expect(started.log()).toContain(sentence);
      expect(started.log()).not.toMatch(/^\s+at /m);
    }
  });

  it('a collector that is away is one line of the log of a worker, which runs', async () => {
    const worker = startProcess('worker', {
      REDIS_URL: sharedRedisUrl(),
      TEMPORAL_ADDRESS: sharedTemporal(),
      TASK_QUEUE: newSessionId(),
      OTEL_METRIC_EXPORT_INTERVAL: '50',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    });
    try {
      await worker.says(
        'The collector at http://127.0.0.1:1/v1/metrics does not take metrics: start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Runs are not affected.',
      );
      await worker.says('worker runs');
    } finally {
      await worker.stop();
    }
    expect(worker.log().match(/does not take metrics/g)).toHaveLength(1);
    expect(worker.log()).not.toContain('OTLP metric export failed');
  });
});
