import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const inFolder = (path: string): string => new URL(path, import.meta.url).pathname;

/** Each address below `/console` is the console's, as the API serves it. */
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
    // Browsers without it load the same files, a moment later.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The console loads none of the chat, nor the chat any of the console.
      input: { chat: inFolder('index.html'), console: inFolder('console.html') },
    },
  },
  server: {
    // The page shares types and ids with protocol/, one folder up.
    fs: { allow: [inFolder('..')] },
    proxy: {
      '/api': {
        target: 'http://127.0.0.1:3000',
        // A response that the API cuts has to reach the page as a cut, or the page waits forever.
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
