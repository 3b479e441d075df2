import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The page and the API are one origin, as behind any reverse proxy.
const api = {
  target: process.env.API_URL ?? 'http://localhost:3000',
  // Without this the proxy leaves a page waiting when the API's side of a reply is cut.
  configure: (proxy) => {
    proxy.on('proxyRes', (incoming, _request, outgoing) => {
      incoming.on('close', () => {
        if (!incoming.complete) outgoing.destroy();
      });
    });
  },
};
const proxy = { '/api': api };

export default defineConfig({ plugins: [svelte()], server: { proxy }, preview: { proxy } });
