import { describe, expect, it } from '@jest/globals';
import { startProcess } from '../support/process.js';

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
});
