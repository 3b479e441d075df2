import { randomBytes, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createPayloadCodec } from '../../../extensions/codec/index.js';
import { explainTemporal } from '../../../extensions/doctor/index.js';
import { createSchedules } from '../../../extensions/schedules/schedules.js';
import { WORKFLOW_TYPE } from '../../../protocol/temporal.js';
import { sharedTemporal } from '../../support/product.js';
import { until } from '../../support/until.js';

const address = sharedTemporal();
const taskQueue = `keys-${randomUUID()}`;
const undo: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const each of undo.reverse()) await each();
});

async function openClient(keyId: string): Promise<Client> {
  const connection = await Connection.connect({ address });
  undo.push(() => connection.close());
  const payloadCodecs = [createPayloadCodec([{ id: keyId, key: randomBytes(32) }])];
  return new Client({ connection, dataConverter: { payloadCodecs } });
}

/** Starts runs that no worker takes. */
async function start(client: Client, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const workflowId = `${taskQueue}-${randomUUID()}`;
    const handle = await client.workflow.start(WORKFLOW_TYPE, { taskQueue, workflowId, args: [n] });
    undo.push(() => handle.terminate());
  }
}

it('a process that lacks a key of an old run or of a schedule says so, whatever began since', async () => {
  const [old, current, scheduling] = await Promise.all(['old', 'new', 'schedule'].map(openClient));
  if (!old || !current || !scheduling) throw new Error('no clients');
  const schedules = createSchedules({ client: scheduling, taskQueue });
  await schedules.create({
    name: 'daily',
    agent: 'reporter',
    message: 'hello',
    owner: 'ann',
    cron: '0 0 1 1 *',
    timeZone: 'UTC',
    overlap: 'skip',
    whenBusy: 'skip',
    by: 'ann',
  });
  undo.push(() => schedules.delete(undefined, 'daily'));
  await start(old, 1);
  await start(current, 12);
  const explain = (...keyIds: string[]) =>
    explainTemporal({
      address,
      connection: { address },
      namespace: 'default',
      taskQueue,
      keyIds,
    });
  await until('Temporal lists them', async () => {
    const { count } = await current.workflow.count(`TaskQueue = '${taskQueue}'`);
    return count === 13;
  });
  await until('both are named', async () => {
    const { warning } = await explain('new');
    return warning?.includes('encrypted with "old", "schedule", which') === true;
  });
  expect(await explain('new', 'old', 'schedule')).toEqual({
    fault: undefined,
    warning: undefined,
  });
});
