import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  // `helix-temporal dev` says where the API is.
  server: { proxy: { '/api': process.env.HELIX_URL ?? 'http://127.0.0.1:3000' } },
});
