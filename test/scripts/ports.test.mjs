import { once } from 'node:events';
import { createServer } from 'node:net';
import { anyFreePort, claimAnyPort, claimPort, tryClaimPort } from '../../scripts/system/ports.mjs';

async function withServer(work) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(server.address().port);
  } finally {
    server.close();
  }
}

test('a port that is taken is refused, and another one is found above it', async () => {
  await withServer(async (port) => {
    await expect(tryClaimPort(port)).resolves.toBe(false);
    await expect(claimPort(port)).resolves.toBeGreaterThan(port);
  });
});

test('a port that was claimed, but is not listened on yet, is not given twice', async () => {
  for (const port of [await claimPort(await anyFreePort()), await claimAnyPort()]) {
    await expect(tryClaimPort(port)).resolves.toBe(false);
  }
});

test('an address that this machine does not have is named in the error', async () => {
  await expect(claimPort(3000, '192.0.2.1')).rejects.toThrow('cannot listen on 192.0.2.1');
});
