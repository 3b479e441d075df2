import { randomInt } from 'node:crypto';
import { anyFreePort } from './ports.mjs';

/**
 * A random address of this machine's loopback network, which cannot be guessed: 24 bits, and
 * undefined where the system has only 127.0.0.1 (macOS).
 */
export async function ownLoopbackAddress({ canListen = listens } = {}) {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
  return (await canListen(address)) ? address : undefined;
}

async function listens(address) {
  return anyFreePort(address).then(
    () => true,
    () => false,
  );
}
