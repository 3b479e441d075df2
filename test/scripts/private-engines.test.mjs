import { Client, Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { startPrivateRedis, startPrivateTemporal } from '../../scripts/engines/private-engines.mjs';
import { SEARCH_ATTRIBUTES } from '../../scripts/engines/temporal-server.mjs';

test('Redis keeps its data over kill -9, and evicts nothing', async () => {
  const engine = await startPrivateRedis({ file: process.env.REDIS_SERVER_PATH });
  const redis = new Redis(engine.url);
  try {
    await redis.set('key', 'value');
    const before = engine.pid;
    await engine.kill9();
    await engine.restart();
    expect(engine.pid).not.toBe(before);
    await expect(redis.get('key')).resolves.toBe('value');
    const policy = await redis.config('GET', 'maxmemory-policy');
    expect(policy).toEqual(['maxmemory-policy', 'noeviction']);
  } finally {
    redis.disconnect();
    await engine.close();
  }
});

test('Temporal keeps its runs over kill -9, and knows the search attributes', async () => {
  const engine = await startPrivateTemporal({ file: process.env.TEMPORAL_CLI_PATH });
  const connection = await Connection.connect({ address: engine.address });
  try {
    const client = new Client({ connection });
    await client.workflow.start('any', { workflowId: 'kept', taskQueue: 'unserved' });
    await engine.kill9();
    await engine.restart();
    // The old client may still be waiting to retry its broken connection.
    const again = await Connection.connect({ address: engine.address });
    const handle = new Client({ connection: again }).workflow.getHandle('kept');
    await expect(handle.describe()).resolves.toMatchObject({ status: { name: 'RUNNING' } });
    const { customAttributes } = await again.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    expect(Object.keys(customAttributes)).toEqual(
      expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)),
    );
    await again.close();
  } finally {
    await connection.close();
    await engine.close();
  }
});
