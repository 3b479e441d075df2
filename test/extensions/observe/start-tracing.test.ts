import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCollectorLines } from '../../../config/collector-lines.js';
import { parseEnv } from '../../../config/env.js';
import { anyFreePort } from '../../../scripts/system/ports.mjs';
import { startLogging } from '../../../extensions/observe/logging.js';
import type { Tracing } from '../../../extensions/observe/index.js';
import { startTracing } from '../../../extensions/observe/start-tracing.js';
import { listen } from '../../support/listen.js';
import { startSpanReceiver } from '../../support/span-receiver.js';
import { until } from '../../support/until.js';

const SPAN = {
  title: 'chat m',
  id: { trace: 'r1:1', span: 'r1:1:2' },
  kind: 'client' as const,
  startMs: 1_700_000_000_000,
  endMs: 1_700_000_000_250,
  attributes: {},
  content: () => ({ 'gen_ai.input.messages': 'ann pays 5', 'gen_ai.tool.definitions': 'charge' }),
};

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT'];
});

/** Starts tracing as API and worker do. */
async function start(url: string, settings: Record<string, string> = {}): Promise<Tracing> {
  // The exporter reads OpenTelemetry's own variables.
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = url;
  const config = parseEnv({ OTEL_EXPORTER_OTLP_ENDPOINT: url, LOG_LEVEL: 'silent', ...settings });
  const { tracing } = await startLogging(config, 'test');
  if (tracing === undefined) throw new Error('there are no traces');
  return tracing;
}

it('a collector that accepts and never answers holds up neither spans nor the end', async () => {
  let asked = 0;
  const { url, close } = await listen(createServer(() => (asked += 1)));
  closing.push(close);
  // Longer than the test may take.
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '600000';
  const tracing = await start(url, { OTEL_BSP_SCHEDULE_DELAY: '10' });
  for (let at = 0; at < 5_000; at += 1) tracing.tracer.write(SPAN);
  await until('it is asked', () => Promise.resolve(asked > 0));
  await tracing.close();
});

it('a collector that is away is one line, and one when it is back', async () => {
  const port = await anyFreePort();
  const lines: { level: string; text: string }[] = [];
  const collector = createCollectorLines(
    {
      info: (_, text) => void lines.push({ level: 'info', text }),
      warn: (_, text) => void lines.push({ level: 'warn', text }),
    },
    { what: 'spans', setting: 'OTEL_EXPORTER_OTLP_ENDPOINT', url: 'http://me:secret@there:4318' },
  );
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${String(port)}`;
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = '500';
  const others: string[] = [];
  const tracing = startTracing({
    role: 'test',
    captureContent: false,
    latestNames: false,
    traceUrl: undefined,
    exportEveryMs: 10,
    collector,
    logger: { warn: (fields, text) => void others.push(`${text} ${JSON.stringify(fields)}`) },
  });
  closing.push(() => tracing.close());
  const untilSaid = (what: string, isDone: () => boolean): Promise<boolean> =>
    until(what, () => {
      tracing.tracer.write(SPAN);
      return Promise.resolve(isDone());
    });
  await untilSaid('it is missed', () => lines.length > 0);
  let asked = 0;
  const back = createServer((_, response) => {
    // The first two requests fail.
    asked += 1;
    response.writeHead(asked < 3 ? 500 : 200).end();
  }).listen(port, '127.0.0.1');
  closing.push(() => {
    back.closeAllConnections();
    back.close();
  });
  await untilSaid('it is back', () => lines.length > 1);
  expect(lines).toEqual([
    {
      level: 'warn',
      text: 'The collector at http://there:4318/ does not take spans: start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Runs are not affected.',
    },
    { level: 'info', text: 'The collector at http://there:4318/ takes spans again.' },
  ]);
  // Earlier tests have started traces in this process, too.
  expect(others.filter((line) => !line.includes('will overwrite'))).toEqual([]);
});

it('the shipped processes redact by a file, and do not start if it cannot be used', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helix-redact-'));
  const file = join(folder, 'redact.ts');
  closing.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    file,
    `export const redact = (name: string, value: unknown): unknown =>
       name === 'gen_ai.input.messages' ? String(value).replace('ann', 'a person') : undefined;`,
  );
  const receiver = await startSpanReceiver();
  closing.push(() => receiver.close());
  const content = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' };
  const tracing = await start(receiver.url, { ...content, TRACE_REDACT: file });
  tracing.tracer.write(SPAN);
  await tracing.close();
  expect(receiver.body()).toContain('a person pays 5');
  expect(receiver.body()).not.toMatch(/ann pays|charge/);
  const without = join(folder, 'without.ts');
  writeFileSync(without, 'export const other = 1;');
  const started = start(receiver.url, { ...content, TRACE_REDACT: without });
  await expect(started).rejects.toThrow(/^TRACE_REDACT: .* exports no function of the name redact/);
});
