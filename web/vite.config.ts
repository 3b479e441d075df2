import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const inFolder = (path: string): string => new URL(path, import.meta.url).pathname;

export default defineConfig({
  root: inFolder('.'),
  plugins: [react()],
  build: { outDir: inFolder('../dist/web'), emptyOutDir: true },
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
