import { assistantRow, server } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { RunRecord } from '../../contract/runs.js';

/** Returns the text that the steps of this run write. */
export const nameOf = ({ runId }: RunRecord): string => runId.split('-').at(-1) ?? '';

/** Plays a step that writes text and calls a tool, whose result is the number of the step. */
export async function takeStep(
  session: SessionDriver,
  run: RunRecord,
  step: number,
): Promise<void> {
  const writer = session.writer(run.runId, step, 1);
  await session.claim(writer);
  await session.say(writer, 1, `<${nameOf(run)}.${String(step)}>`);
  const id = `c${String(run.turn)}-${String(step)}`;
  const calls = [server(id)];
  await session.commit(writer, {
    calls,
    row: { ...assistantRow(writer, calls), messageId: run.messageId },
  });
  await session.start(run.runId, step, id);
  await session.finishCall(run.runId, step, id, step);
}

/** Plays the last step of the turn. */
export async function conclude(
  session: SessionDriver,
  run: RunRecord,
  step: number,
): Promise<void> {
  const writer = session.writer(run.runId, step, 1);
  await session.claim(writer);
  await session.commit(writer, {
    row: { ...assistantRow(writer, []), messageId: run.messageId },
  });
}

/** Plays a turn of two steps with tools and a last one without. */
export async function playTurn(session: SessionDriver, messageId: string): Promise<RunRecord> {
  const run = await session.newRun(messageId);
  await takeStep(session, run, 1);
  await takeStep(session, run, 2);
  await conclude(session, run, 3);
  return run;
}

/** Returns the id of the run that a reply reports. */
export function runOf(result: unknown): string {
  const { run } = result as { run?: { runId: string } };
  if (run === undefined) throw new Error(`no run was begun: ${JSON.stringify(result)}`);
  return run.runId;
}
