import { ConfigError } from '../../config/env.js';
import type { PayloadKey } from './index.js';

/**
 * Reads `TEMPORAL_CODEC_KEYS`: `<id>:<32 bytes in base64>`, separated by commas, the one that encrypts
 * first. Messages name ids, never keys.
 *
 * @returns undefined if payloads are not encrypted
 * @throws ConfigError in one line
 */
export function readPayloadKeys(text: string | undefined): PayloadKey[] | undefined {
  if (text === undefined) return undefined;
  const keys = text.split(',').map((part): PayloadKey => {
    const [, id, base64] = /^\s*([^:\s]{1,64}):([A-Za-z0-9+/]+={0,2})\s*$/.exec(part) ?? [];
    if (id === undefined || base64 === undefined) {
      throw new ConfigError(
        'Bad configuration: TEMPORAL_CODEC_KEYS must be <id>:<base64>, separated by commas',
      );
    }
    const key = Buffer.from(base64, 'base64');
    if (key.length !== 32) {
      throw new ConfigError(
        `Bad configuration: TEMPORAL_CODEC_KEYS: the key "${id}" must have 32 bytes`,
      );
    }
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new ConfigError('Bad configuration: TEMPORAL_CODEC_KEYS names an id twice');
  }
  return keys;
}
