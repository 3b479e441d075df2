import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { endWithParent, startProcess } from '../../config/startup.js';
import { createFloorActivities } from './activities.js';
import { FLOOR_TASK_QUEUE } from './names.js';

/** The floor's worker: a process of its own, with what makes the product's worker fast. */
async function main(): Promise<void> {
  endWithParent(process);
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const address = process.env['TEMPORAL_ADDRESS'];
  const connection = await NativeConnection.connect(address === undefined ? {} : { address });
  try {
    const worker = await Worker.create({
      connection,
      taskQueue: process.argv[2] ?? FLOOR_TASK_QUEUE,
      activities: { ...createFloorActivities() },
      workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
      maxHeartbeatThrottleInterval: '1s',
      defaultHeartbeatThrottleInterval: '1s',
      maxConcurrentActivityTaskExecutions: 1_000,
    });
    await worker.run();
  } finally {
    await connection.close();
  }
}

startProcess(main);
