// Progress on screen for steps that can take seconds or minutes.

const REDRAW_MS = 1000;
const PLAIN_REPEAT_MS = 15_000;

/**
 * Shows one step. On a terminal the same line is redrawn with the elapsed seconds; in a log file,
 * where redrawing would leave thousands of lines, a line is repeated now and then, so that nobody
 * takes a long build for a hang. It goes to stderr: stdout belongs to what the command answers.
 */
export function startProgress(label, { stream = process.stderr } = {}) {
  const startedAt = Date.now();
  const onTerminal = stream.isTTY === true;
  let detail = '';

  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const line = (end) => `${label}${detail ? ` (${detail})` : ''}${end}`;
  const draw = () =>
    onTerminal
      ? stream.write(`\r\x1b[K${line(` … ${elapsed()}`)}`)
      : stream.write(`${line(` … ${elapsed()}`)}\n`);

  if (onTerminal) draw();
  else stream.write(`${line(' …')}\n`);
  const timer = setInterval(draw, onTerminal ? REDRAW_MS : PLAIN_REPEAT_MS);
  timer.unref();

  const finish = (outcome) => {
    clearInterval(timer);
    detail = '';
    stream.write(`${onTerminal ? '\r\x1b[K' : ''}${line(`: ${outcome}, ${elapsed()}`)}\n`);
  };
  return {
    update(next) {
      detail = next;
    },
    done: (outcome = 'done') => finish(outcome),
    failed: (outcome = 'failed') => finish(outcome),
  };
}

/** Runs one step under a progress line; the line says how it went, the error goes on to the caller. */
export async function withProgress(label, step) {
  const progress = startProgress(label);
  try {
    const result = await step(progress);
    progress.done();
    return result;
  } catch (error) {
    progress.failed();
    throw error;
  }
}
