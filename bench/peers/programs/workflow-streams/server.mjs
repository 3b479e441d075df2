// Starts turns and converts the workflow's stream to frames for readers.
import { Client, Connection } from '@temporalio/client';
import { WorkflowStreamClient } from '@temporalio/workflow-streams/client';
import { TASK_QUEUE, TOPIC } from './names.mjs';
import { serveTurns, toFrame } from './shared/server.mjs';

const connection = await Connection.connect({ address: process.env.TEMPORAL_ADDRESS });
const client = new Client({ connection });
const decoder = new TextDecoder();

serveTurns({
  begin: async (id, turn) => {
    await client.workflow.start('turn', { workflowId: id, taskQueue: TASK_QUEUE, args: [turn] });
    return frames(id, 0);
  },
  attach: (id, { words }) => Promise.resolve(frames(id, words)),
  history: async (id) => {
    await client.workflow.getHandle(id).result();
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    const description = await client.workflow.getHandle(id).describe();
    return {
      events: events.length,
      bytes: Number(description.raw.workflowExecutionInfo.historySizeBytes),
    };
  },
});

async function* frames(id, skipped) {
  let seen = 0;
  for await (const { topic, data } of WorkflowStreamClient.create(client, id).subscribe()) {
    if (topic !== TOPIC) return;
    const part = JSON.parse(decoder.decode(data.data));
    if (part.type !== 'text-delta') continue;
    seen += 1;
    if (seen > skipped) yield toFrame(part.delta.trimEnd());
  }
}
