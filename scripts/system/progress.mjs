// Progress on screen for steps that can take seconds or minutes.

// What is done before anybody could have read a line does not need one.
const FIRST_LINE_MS = 300;
const REDRAW_MS = 1000;
const PLAIN_REPEAT_MS = 15_000;

/**
 * Runs one step under a line that says what is being done and for how long. On a terminal the
 * line is redrawn; in a log file, where that would leave thousands of lines, it is repeated now
 * and then, so that a long build does not look like a hang. It goes to stderr: stdout belongs to
 * what the command answers. The step may add a detail with `progress.update(text)`.
 */
export async function withProgress(label, step, { stream = process.stderr } = {}) {
  const startedAt = Date.now();
  const onTerminal = stream.isTTY === true;
  const [before, after] = onTerminal ? ['\r\x1b[K', ''] : ['', '\n'];
  let detail = '';
  let shown = false;
  let timer;

  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const draw = () => {
    shown = true;
    stream.write(`${before}${label} … ${seconds()}${detail && `, ${detail}`}${after}`);
    timer = setTimeout(draw, onTerminal ? REDRAW_MS : PLAIN_REPEAT_MS);
  };
  const finish = (outcome) => {
    clearTimeout(timer);
    if (shown) stream.write(`${before}${label}: ${outcome} after ${seconds()}\n`);
  };

  timer = setTimeout(draw, FIRST_LINE_MS);
  try {
    const result = await step({ update: (next) => (detail = next) });
    finish('done');
    return result;
  } catch (error) {
    finish('failed');
    throw error;
  }
}
