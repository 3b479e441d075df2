import { randomUUID } from 'node:crypto';
import type { Client, Connection, ConnectionLike } from '@temporalio/client';
import { Worker, type NativeConnection } from '@temporalio/worker';
import { createAgentExecutor } from '../../runs/temporal-executor.js';
import { createAgentPlugin, type AgentPluginOptions } from '../../extensions/worker.js';
import type { CarriedOut, SharedSetup } from '../carried-out.js';

/** The used members of a `TestWorkflowEnvironment` of `@temporalio/testing`. */
export interface TemporalEnvironment {
  readonly client: Client & { connection: ConnectionLike };
  readonly connection: Connection;
  readonly nativeConnection: NativeConnection;
  readonly namespace?: string | undefined;
  /** Skips time on a server that supports it, and waits on others. */
  readonly sleep: (ms: number) => Promise<void>;
}

export type WorkflowSource = NonNullable<AgentPluginOptions['workflows']>;

/** Starts a worker in this process on its own task queue. */
export async function runOnTemporal(
  { client, nativeConnection, namespace, sleep }: TemporalEnvironment,
  { workflows, ...shared }: SharedSetup & { workflows?: WorkflowSource | undefined },
): Promise<CarriedOut> {
  const { agents, stores, services, clock } = shared;
  const taskQueue = `test-${randomUUID()}`;
  const worker = await Worker.create({
    connection: nativeConnection,
    namespace: namespace ?? client.options.namespace,
    taskQueue,
    plugins: [createAgentPlugin({ agents, stores, services, workflows })],
  });
  const running = worker.run();
  const executor = await createAgentExecutor({
    client,
    taskQueue,
    agents,
    stores,
  });
  return {
    executor,
    advance: async (ms) => {
      clock.advance(ms);
      await sleep(ms);
    },
    close: async () => {
      await executor.runs.idle();
      worker.shutdown();
      await running;
    },
  };
}
