import { fileURLToPath } from 'node:url';
import { defineNitroConfig } from 'nitro/config';

export default defineNitroConfig({
  modules: ['workflow/nitro'],
  plugins: ['./start-world.ts'],
  // The file that registers the steps has no exports, so the bundler would drop it.
  moduleSideEffects: [fileURLToPath(new URL('./.nitro/workflow/', import.meta.url))],
  handlers: [
    { route: '/turns/:id', method: 'post', handler: './routes/begin.ts' },
    { route: '/turns/:id', method: 'get', handler: './routes/attach.ts' },
    { route: '/history/:id', handler: './routes/history.ts' },
    { route: '/ready', handler: './routes/ready.ts' },
  ],
});
