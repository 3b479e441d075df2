// How this project runs Redis: the same in `npm start`, tests and measurements.
import { answersPing } from './redis-probe.mjs';

/**
 * Append-only file on, because Redis is the record of every conversation; snapshots off, because
 * one durable file is enough; no eviction, because a key that vanishes is a lost message.
 * `appendfsync` as in redis.conf.
 */
export function redisArguments({ port, folder, appendfsync = 'everysec' }) {
  return [
    '--bind',
    '127.0.0.1',
    '--port',
    String(port),
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--appendfsync',
    appendfsync,
    '--save',
    '',
    '--maxmemory-policy',
    'noeviction',
    '--daemonize',
    'no',
    '--loglevel',
    'notice',
  ];
}

export function isRedisReady({ port }) {
  return answersPing(port);
}
