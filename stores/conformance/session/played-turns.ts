import { assistantRow, newCall } from '../fixtures.js';
import type { SessionDriver } from '../session-driver.js';
import type { RunRecord } from '../../contract/runs.js';

/** What a run's steps say of it. */
export const nameOf = ({ runId }: RunRecord): string => runId.split('-').at(-1) ?? '';

/** A step of the turn that says something and calls a tool, whose result is the step's number. */
export async function takeStep(
  session: SessionDriver,
  run: RunRecord,
  step: number,
): Promise<void> {
  const writer = session.writer(run.runId, step, 1);
  await session.claim(writer);
  await session.say(writer, 1, `<${nameOf(run)}.${String(step)}>`);
  const id = `c${String(run.turn)}-${String(step)}`;
  const calls = [newCall(id, 'server')];
  await session.commit(writer, {
    calls,
    row: { ...assistantRow(writer, calls), messageId: run.messageId },
  });
  await session.start(run.runId, step, id);
  await session.finishCall(run.runId, step, id, step);
}

/** The turn's last step. */
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

/** A turn of two steps with tools and a last one without. */
export async function playTurn(session: SessionDriver, messageId: string): Promise<RunRecord> {
  const run = await session.newRun(messageId);
  await takeStep(session, run, 1);
  await takeStep(session, run, 2);
  await conclude(session, run, 3);
  return run;
}
