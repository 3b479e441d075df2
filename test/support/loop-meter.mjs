// Loaded into a process before its own code (`node --import`): measures how long its event loop does
// nothing else, by the time that the main thread spends on a processor. Other processes of a busy
// machine do not count; threads of its own neither.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const EVERY_MS = 5;
const STAT = `/proc/self/task/${String(process.pid)}/schedstat`;

/** ms on a processor; of a system that does not say, of all threads. */
function readCpuMs() {
  try {
    return Number(readFileSync(STAT, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}

const delay = monitorEventLoopDelay({ resolution: EVERY_MS });
delay.enable();
let last = readCpuMs();
let longest = 0;
setInterval(() => {
  const now = readCpuMs();
  longest = Math.max(longest, now - last);
  last = now;
}, EVERY_MS).unref();

const server = createServer((_request, response) => {
  response.end(JSON.stringify({ busyMs: longest, delayMs: delay.max / 1e6 }));
  longest = 0;
  delay.reset();
});
server.unref();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  process.stdout.write(`${JSON.stringify({ msg: 'the loop is measured', port })}\n`);
});
