import react from '@vitejs/plugin-react';
import { defineConfig, type ProxyOptions } from 'vite';

const api: ProxyOptions = {
  // `helix-temporal dev` sets the API's address.
  target: process.env.HELIX_URL ?? 'http://127.0.0.1:3000',
  // Without this the proxy leaves a page waiting when the API's side of a reply is cut.
  configure: (proxy) => {
    proxy.on('proxyRes', (incoming, _request, outgoing) => {
      incoming.on('close', () => {
        if (!incoming.complete) outgoing.destroy();
      });
    });
  },
};

export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/api': api } },
  preview: { proxy: { '/api': api } },
});
