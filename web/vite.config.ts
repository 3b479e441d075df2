import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const inFolder = (path: string): string => new URL(path, import.meta.url).pathname;

/** Serves the console's page for each address below `/console`, as the API does. */
const consoleAddresses: Plugin = {
  name: 'console-addresses',
  configureServer: ({ middlewares }) => {
    middlewares.use((request, _response, next) => {
      if (/^\/console(\/|\?|$)/.test(request.url ?? '')) request.url = '/console.html';
      next();
    });
  },
};

export default defineConfig({
  root: inFolder('.'),
  plugins: [react(), consoleAddresses],
  build: {
    outDir: inFolder('../dist/web'),
    emptyOutDir: true,
    // Browsers without module preload load the same files slightly later.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Chat and console are separate bundles; neither loads the other's code.
      input: { chat: inFolder('index.html'), console: inFolder('console.html') },
    },
  },
  server: {
    // The page shares types and ids with protocol/, one folder up.
    fs: { allow: [inFolder('..')] },
    proxy: {
      '/api': {
        target: 'http://127.0.0.1:3000',
        // The page must see that the API cut a response; otherwise it waits forever.
        configure: (proxy) => {
          proxy.on('proxyRes', (incoming, _request, outgoing) => {
            incoming.on('close', () => {
              if (!incoming.complete) outgoing.destroy();
            });
          });
        },
      },
    },
  },
});
