import { TemporalProvider } from '@temporalio/ai-sdk/workflow';
import { WorkflowStream } from '@temporalio/workflow-streams/workflow';
import { proxyActivities } from '@temporalio/workflow';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { TOPIC } from './names.mjs';

// Without a heartbeat time-out, Temporal notices a worker's death only after ten minutes.
const liveness = { startToCloseTimeout: '10 minutes', heartbeatTimeout: '5 seconds' };
const { echo } = proxyActivities(liveness);

/** An agent written as in the documentation of the AI SDK integration. */
export async function turn(work) {
  const stream = new WorkflowStream();
  const provider = new TemporalProvider({ languageModel: { ...liveness, streamingTopic: TOPIC } });
  const result = streamText({
    model: provider.languageModel('scripted'),
    prompt: JSON.stringify(work),
    tools: { echo: tool({ inputSchema: z.object({ value: z.number() }), execute: echo }) },
    stopWhen: stepCountIs(work.steps),
  });
  await result.consumeStream();
  stream.topic('end').publish(true);
}
