import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { runCommand } from '../../scripts/system/run-command.mjs';

const FILE = pathToFileURL(resolve('scripts/start/stop-request.mjs')).href;

/** Runs a process that gets signals at these times, ms, and ends. */
const press = (...at) =>
  runCommand(process.execPath, [
    '--input-type=module',
    '-e',
    `import { listenForStop } from ${JSON.stringify(FILE)};
    let time = 0;
    const signal = listenForStop({ now: () => time, onRepeat: () => console.log('killed at', time) });
    for (time of ${JSON.stringify(at)}) process.emit('SIGINT', 'SIGINT');
    console.log(signal.aborted ? 'stopping' : 'running');
    process.exit();`,
  ]);

test('one Ctrl-C that arrives twice, by the terminal and by npm, kills nothing', async () => {
  expect(await press(5, 7)).toMatchObject({ code: 0, stdout: 'stopping\n' });
});

test('a second Ctrl-C kills, and the exit code says that it was forced', async () => {
  expect(await press(5, 7, 2_000)).toMatchObject({
    code: 130,
    stdout: 'killed at 2000\nstopping\n',
  });
});
