import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { NativeConnection, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { scriptedProvider } from './model.mjs';
import { TASK_QUEUE } from './names.mjs';

const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS }),
  taskQueue: TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('./workflows.mjs', import.meta.url)),
  activities: { echo: ({ value }) => Promise.resolve(value) },
  plugins: [new AiSdkPlugin({ modelProvider: scriptedProvider })],
  maxConcurrentActivityTaskExecutions: 300,
});
await worker.run();
