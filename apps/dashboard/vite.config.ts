import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** `npm run dev -w @parley/dashboard` serves the sources with reloading, beside a running `npm start`. */
const server = 'http://127.0.0.1:4000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    target: 'es2023',
    // The page's policy allows no inline script, and a data: font would sit in the style sheet.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/docs', '/dev', '/openapi.json'].map((path) => [path, { target: server, ws: true }]),
    ),
  },
});
