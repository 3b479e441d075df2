import { createServer } from 'node:net';
import { listen } from '../support/listen.js';
import { anyFreePort, claimAnyPort, claimPort, tryClaimPort } from '../../scripts/system/ports.mjs';

test('a port that is taken is refused, and another one is found above it', async () => {
  const { port } = await listen(createServer());
  await expect(tryClaimPort(port)).resolves.toBe(false);
  await expect(claimPort(port)).resolves.toBeGreaterThan(port);
});

test('a port that was claimed, but is not listened on yet, is not given twice', async () => {
  for (const port of [await claimPort(await anyFreePort()), await claimAnyPort()]) {
    await expect(tryClaimPort(port)).resolves.toBe(false);
  }
});

test('an address that this machine does not have is named in the error', async () => {
  await expect(claimPort(3000, '192.0.2.1')).rejects.toThrow('cannot listen on 192.0.2.1');
});
