import { createReadStream } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Plugin } from 'vite'

const PACKAGE = path.dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')))

/**
 * Files that pdf.js fetches while it shows a page: character maps, the 14 standard fonts and, because the page's
 * policy forbids WebAssembly, the JavaScript builds of the JPEG 2000 and JBIG2 decoders; each with its licence.
 */
const FOLDERS: Record<string, RegExp> = {
  cmaps: /\.bcmap$|^LICENSE/,
  standard_fonts: /\.(pfb|ttf)$|^LICENSE/,
  wasm: /_nowasm_fallback\.js$|^LICENSE_(PDFJS_)?(JBIG2|OPENJPEG)$/,
}

/** Puts the pdfjs-dist files of its worker below `/pdfjs/`: served in development, copied by a build. */
export function pdfjsAssets(): Plugin {
  return {
    name: 'pdfjs-assets',
    configureServer(server) {
      server.middlewares.use('/pdfjs', (request, response, next) => {
        const wanted = path.posix.normalize(decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/'))
        const [, folder = '', file = '', ...rest] = wanted.split('/')
        if (rest.length > 0 || !FOLDERS[folder]?.test(file)) return next()
        const source = path.join(PACKAGE, folder, file)
        stat(source).then(
          ({ size }) => {
            response.setHeader('Content-Type', file.endsWith('.js') ? 'text/javascript' : 'application/octet-stream')
            response.setHeader('Content-Length', size)
            createReadStream(source).pipe(response)
          },
          () => next(),
        )
      })
    },
    async generateBundle() {
      for (const [folder, wanted] of Object.entries(FOLDERS)) {
        for (const file of await readdir(path.join(PACKAGE, folder))) {
          if (!wanted.test(file)) continue
          const source = await readFile(path.join(PACKAGE, folder, file))
          this.emitFile({ type: 'asset', fileName: `pdfjs/${folder}/${file}`, source })
        }
      }
    },
  }
}
