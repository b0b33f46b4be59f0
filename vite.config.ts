import path from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { pdfjsAssets } from './web/pdfjs-assets-plugin.ts'
import { smallerAuth } from './web/smaller-auth-plugin.ts'
import { zodWithoutJsonSchema } from './web/zod-without-json-schema-plugin.ts'

const web = path.join(import.meta.dirname, 'web')

export default defineConfig({
  root: web,
  // Relative, so that one build serves any path.
  base: './',
  plugins: [react(), smallerAuth(), zodWithoutJsonSchema(), pdfjsAssets()],
  resolve: {
    alias: {
      // The package writes a <style> element, which the Content-Security-Policy refuses.
      'react-remove-scroll': path.join(web, 'ui/remove-scroll.tsx'),
    },
  },
  build: {
    outDir: path.join(import.meta.dirname, 'dist/web'),
    emptyOutDir: true,
    // A data: font or script would break the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // One file for each page: pieces that late parts share with them compress worse, by 13 kB for the chat page.
          groups: [
            { name: 'index', test: /\/web\/main\.tsx$/, priority: 3 },
            // Late parts of the sign-in page, which has no use for the chat page.
            { name: 'notices', test: /\/web\/(?:ui\/toaster|app\/storage-notice)\.tsx$/, priority: 2 },
            { name: 'enrol', test: /\/web\/features\/login\/enrol-form\.tsx$/, priority: 1 },
            { name: 'chat', test: /\/web\/app\/routes\/chat\.tsx$/, priority: 0 },
          ],
        },
      },
    },
  },
})
