import { randomUUID } from 'node:crypto';
import type { Client, ScheduleDescription, ScheduleHandle } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';
import type { ScheduledRun } from '../protocol/scheduled-run.js';
import { addTrigger } from '../protocol/triggers.js';
import { codeOf } from './grpc-status.js';

/** Others who change the schedule at the same moment win as often. */
const TRIES = 5;
/** gRPC. */
const [NOT_FOUND, FAILED_PRECONDITION] = [5, 9];
/** It was changed, or deleted, which the next try finds. */
const CHANGED: readonly unknown[] = [FAILED_PRECONDITION, NOT_FOUND];

/**
 * Notes in a schedule who triggers it, before that is done: Temporal's trigger carries no name, and a
 * firing is started with what the schedule says. The owner counts without a note.
 *
 * @throws HelixError `unavailable` if others change the schedule all the time; ScheduleNotFoundError
 */
export async function noteTrigger(
  client: Client,
  handle: ScheduleHandle,
  by: string,
): Promise<void> {
  const at = Date.now();
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await handle.describe();
    const [run] = (found.action.args ?? []) as [ScheduledRun?];
    if (run === undefined || by === run.owner) return;
    const { triggers = [] } = run;
    const noted = addTrigger(triggers, { by, at });
    // Also the proof that the update below was taken: servers drop one that is out of date, silently.
    if (noted === triggers) return;
    await update(client, found, { ...run, triggers: noted });
  }
  throw new HelixError('unavailable', 'The schedule is being changed by others; try again.');
}

async function update(
  { workflowService, options }: Client,
  { scheduleId, raw }: ScheduleDescription,
  run: ScheduledRun,
): Promise<void> {
  const { schedule, conflictToken } = raw;
  const { payloadConverter, payloadCodecs } = options.loadedDataConverter;
  let payloads = [payloadConverter.toPayload(run)];
  for (const codec of payloadCodecs) payloads = await codec.encode(payloads);
  const { namespace, identity } = options;
  const startWorkflow = { ...schedule?.action?.startWorkflow, input: { payloads } };
  try {
    await workflowService.updateSchedule({
      ...{ namespace, scheduleId, identity, conflictToken, requestId: randomUUID() },
      schedule: { ...schedule, action: { ...schedule?.action, startWorkflow } },
    });
  } catch (error) {
    if (!CHANGED.includes(codeOf(error))) throw error;
  }
}
