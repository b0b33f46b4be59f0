import path from 'node:path'
import { defineConfig } from 'vite'

const parsing = path.join(import.meta.dirname, 'server/parsing')

/**
 * Joins the files of a parser process: finding, reading and compiling some hundred of them takes most of its start. No other
 * configuration of Vite applies here.
 */
export default defineConfig({
  publicDir: false,
  // These find files of their own: native code, WebAssembly, fonts.
  ssr: { target: 'node', noExternal: true, external: ['sharp', 'pdfjs-dist', '@hyzyla/pdfium', 'tesseract.js-core'] },
  build: {
    ssr: true,
    outDir: path.join(import.meta.dirname, 'dist/parsers'),
    emptyOutDir: true,
    target: 'node24',
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(
        [
          'sandbox/lock-down',
          'sandbox/refused-module',
          'parser-main',
          'reused-parser-main',
          'image/shrink-image-process',
        ].map((name) => [name, path.join(parsing, `${name}.ts`)]),
      ),
      output: { entryFileNames: '[name].js', chunkFileNames: 'sandbox/chunk-[name].js' },
    },
  },
})
