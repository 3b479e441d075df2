// The two engines of the product: started here, or reached at a configured address.
import { join } from 'node:path';
import { isRedisReady, redisArguments } from '../engines/redis-server.mjs';
import { findRedis } from '../engines/redis.mjs';
import { isTemporalReady, temporalArguments } from '../engines/temporal-server.mjs';
import { findTemporal } from '../engines/temporal.mjs';
import { claimPort } from '../system/ports.mjs';
import { startEngine } from './engine.mjs';
import { requireRedis, requireTemporal } from './reachable.mjs';
import { openUiProxy, placeUi } from './temporal-ui.mjs';

const PORTS = { temporal: 7233, redis: 6379 };

/** Look-ups may draw progress lines, so they go one by one; what they found starts together. */
export async function findPrograms(settings) {
  return {
    temporal: settings.temporalAddress ? undefined : await findTemporal(),
    redis: settings.redisUrl ? undefined : await findRedis(),
  };
}

/** Returns where to reach Temporal; starts it if no address was given. */
export async function provideTemporal(settings, file, context) {
  const { dataDir, namespace = 'default', temporalAddress } = settings;
  if (temporalAddress) {
    await requireTemporal(temporalAddress);
    return { temporalAddress };
  }
  const port = await claimPort(PORTS.temporal);
  const ui = await placeUi(settings.temporalUi);
  const databaseFile = join(dataDir, 'temporal.db');
  const args = temporalArguments({ port, ui, databaseFile, namespace });
  const isReady = () => isTemporalReady({ port, namespace });
  await startEngine({ name: 'Temporal', file, args, dataDir, isReady }, context);
  const temporalUiUrl = ui && (await openUiProxy(ui, settings, context.fleet));
  return { temporalAddress: `127.0.0.1:${port}`, temporalUiUrl, isTemporalOwn: true };
}

/** Returns where to reach Redis; starts it if no address was given. */
export async function provideRedis(settings, file, context) {
  const { dataDir, redisUrl } = settings;
  if (redisUrl) {
    await requireRedis(redisUrl);
    return { redisUrl };
  }
  const folder = join(dataDir, 'redis');
  const port = await claimPort(PORTS.redis);
  const args = redisArguments({ port, folder });
  const isReady = () => isRedisReady({ port });
  await startEngine({ name: 'Redis', file, args, dataDir, isReady }, context);
  return { redisUrl: `redis://127.0.0.1:${port}` };
}
