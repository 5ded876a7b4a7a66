import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/playground/',
  plugins: [react()],
  build: {
    target: 'es2023',
    // The page's policy allows no inline script, and a data: font would sit in the style sheet.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { '/v1': { target: 'http://127.0.0.1:4000', ws: true }, '/playground/api': 'http://127.0.0.1:4000' },
  },
});
