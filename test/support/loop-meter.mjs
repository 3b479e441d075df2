// Loaded into a process before its own code (`node --import`). Measures how long the event loop is
// blocked, in CPU time of the main thread, so that a busy machine and the process's own threads do
// not count.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const EVERY_MS = 5;
const STAT = `/proc/self/task/${String(process.pid)}/schedstat`;

/** Reads CPU time, ms: of the main thread, or of all threads if the system gives only that. */
function readCpuMs() {
  try {
    return Number(readFileSync(STAT, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}

const delay = monitorEventLoopDelay({ resolution: EVERY_MS });
let timer;
let last = 0;
let longest = 0;

function begin() {
  last = readCpuMs();
  longest = 0;
  delay.reset();
  delay.enable();
  timer ??= setInterval(() => {
    const now = readCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, EVERY_MS).unref();
}

// The meter would cost an idle process most of its time, so it runs only between a POST and the next GET.
const server = createServer(({ method }, response) => {
  if (method === 'POST') begin();
  // An idle connection could close just as the next request comes.
  response.setHeader('connection', 'close');
  response.end(JSON.stringify({ busyMs: longest, delayMs: delay.max / 1e6 }));
  if (method === 'POST') return;
  clearInterval(timer);
  timer = undefined;
  delay.disable();
});
server.unref();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  process.stdout.write(`${JSON.stringify({ msg: 'the loop is measured', port })}\n`);
});
