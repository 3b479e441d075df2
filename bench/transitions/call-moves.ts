import type { Driver } from './driver.js';
import {
  AGENT,
  approvalResponse,
  callId,
  resultRow,
  subAgentOf,
  toolEnd,
  toolOf,
  type Scene,
} from './inputs.js';
import { must } from './moves.js';

/** What is done to single calls of the newest step, each transition as one call. */

export async function startCall(driver: Driver, scene: Scene, n: number, token = 1): Promise<void> {
  const writer = toolOf(scene, n, token);
  const toolCallId = callId(scene, n);
  must(await driver.startCall({ writer, toolCallId, now: Date.now() }), 'execute');
}

export async function settleTool(
  driver: Driver,
  scene: Scene,
  n: number,
  hasEvents = false,
): Promise<void> {
  const writer = toolOf(scene, n);
  const row = resultRow(callId(scene, n));
  const { toolCallId } = row;
  const chunks = [toolEnd(writer, row)];
  const result = { writer, toolCallId, row, hasEvents, chunks, now: Date.now() };
  must(await driver.settleCall({ source: 'tool', ...result }), 'stored');
}

/** The answer of a person, a client or a sub-agent to the newest step's first call. */
export async function answer(
  driver: Driver,
  scene: Scene,
  source: 'approval' | 'client' | 'child',
): Promise<void> {
  const { sessionId, runId } = scene;
  const toolCallId = callId(scene, 1);
  const row = resultRow(toolCallId);
  const call = { sessionId, runId, agentType: AGENT, toolCallId, now: Date.now() };
  const result =
    source === 'approval'
      ? driver.settleCall({
          ...{ source, ...call, decision: { approved: true, at: Date.now() } },
          permitted: true,
          chunks: [approvalResponse(scene)],
        })
      : driver.settleCall({
          ...{ source, ...call, row, permitted: true },
          chunks: [toolEnd(toolOf(scene, 1), row)],
        });
  must(await result, 'stored');
}

export async function beginSubAgent(driver: Driver, scene: Scene, n?: number): Promise<void> {
  const { sessionId, runId } = scene;
  const child = subAgentOf(scene, n);
  const toolCallId = callId(scene, 1);
  const parent = { sessionId, runId, toolCallId, depth: 1 };
  must(await driver.beginChild({ child, parent, now: Date.now() }), 'begun');
}
