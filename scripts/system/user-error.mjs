/** A failure that the person at the keyboard can act on: shown as one sentence, without a stack trace. */
export class UserError extends Error {
  name = 'UserError';
}

/** The same, about what the person has named or set. */
export class UsageError extends UserError {
  name = 'UsageError';
}

/** The last stop of every command: sentences for what was expected, a stack trace only for bugs. */
export async function runMain(main) {
  try {
    await main();
  } catch (error) {
    // The user asked for the end.
    if (error?.name === 'AbortError') return;
    const text = error instanceof UserError ? error.message : String(error?.stack ?? error);
    process.stderr.write(`\n${text}\n`);
    process.exitCode = 1;
  }
}
