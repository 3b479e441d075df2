import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The page and the API are one origin, as behind any reverse proxy.
const proxy = { '/api': process.env.API_URL ?? 'http://localhost:3000' };

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': fileURLToPath(new URL('src', import.meta.url)) } },
  server: { proxy },
  preview: { proxy },
});
