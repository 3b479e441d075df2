import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The page and the API are one origin, as behind any reverse proxy.
const proxy = { '/api': process.env.API_URL ?? 'http://localhost:3000' };

export default defineConfig({ plugins: [svelte()], server: { proxy }, preview: { proxy } });
