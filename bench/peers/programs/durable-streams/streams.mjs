// The streams' own server, with its files: readers connect to it.
import { DurableStreamTestServer } from '@durable-streams/server';

const server = new DurableStreamTestServer({
  port: Number(process.env.STREAMS_PORT),
  dataDir: process.env.DATA_FOLDER,
});
await server.start();
