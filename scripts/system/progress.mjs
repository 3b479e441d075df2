// Shows progress of steps that take seconds or minutes.

// A step that is faster than this needs no line.
const FIRST_LINE_MS = 300;
const REDRAW_MS = 1000;
const PLAIN_REPEAT_MS = 15_000;

/**
 * Runs a step under a line that shows its name and duration, on stderr because stdout has the command's
 * result. A terminal redraws the line; a log file gets it again now and then, so that a long build does not
 * look hung. The step may add a detail with `progress.update(text)`.
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
