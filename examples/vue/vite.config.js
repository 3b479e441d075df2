import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

// The page and the API are one origin, as behind any reverse proxy.
const proxy = { '/api': process.env.API_URL ?? 'http://localhost:3000' };

export default defineConfig({ plugins: [vue()], server: { proxy }, preview: { proxy } });
