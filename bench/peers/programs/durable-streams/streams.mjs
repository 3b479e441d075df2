// The file-based streams server that readers connect to.
import { DurableStreamTestServer } from '@durable-streams/server';

const server = new DurableStreamTestServer({
  port: Number(process.env.STREAMS_PORT),
  dataDir: process.env.DATA_FOLDER,
});
await server.start();
