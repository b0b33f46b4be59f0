/**
 * Compiles the server and its commands to `dist/app`, which the npm package and the image hold: Node strips no types below
 * node_modules. Lines and columns stay those of the sources.
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { z } from 'zod'

const ROOT = path.resolve(import.meta.dirname, '..')
const SOURCES = ['{contract,server}/**/*.ts', 'scripts/{backup,restore,keys,operator,run-command}.ts']
const TESTS = /\.test\.ts$/
/** Other files that are read at run time: migrations, and tables of the thesaurus. */
const DATA = ['server/**/migrations/**/*.sql', 'server/**/*.tsv']
/** Names the library that runs an embeddings model, which is installed where one is used. */
const LOCAL_EMBEDDINGS = ['package.json', 'package-lock.json', 'no-web-runtime']

const packageSchema = z.object({ version: z.string(), type: z.literal('module') })

/** Whether a string names a source: in an import, or as the file of a process or thread. */
function namesSource(text: string, folder: string): boolean {
  if (!text.endsWith('.ts')) return false
  return existsSync(text.startsWith('#') ? path.join(ROOT, text.slice(1)) : path.resolve(folder, text))
}

/** JavaScript of one source, which names other sources by their compiled names. */
export function compileSource(file: string): string {
  let text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && namesSource(node.text, path.dirname(file)))
      // Both extensions have one length, so no position changes.
      text = `${text.slice(0, node.end - 3)}js${text.slice(node.end - 1)}`
    node.forEachChild(visit)
  }
  visit(source)
  return stripTypeScriptTypes(text)
}

const filesOf = (patterns: readonly string[]): string[] => globSync(patterns, { cwd: ROOT })

/** Replaces the folder. The built page and parsers must be there. */
export function compileServer(output: string): void {
  rmSync(output, { recursive: true, force: true })
  for (const name of filesOf(SOURCES)) {
    if (TESTS.test(name)) continue
    const compiled = path.join(output, name.replace(/ts$/, 'js'))
    mkdirSync(path.dirname(compiled), { recursive: true })
    writeFileSync(compiled, compileSource(path.join(ROOT, name)))
  }
  const copied = [
    ...filesOf(DATA),
    ...LOCAL_EMBEDDINGS.map((name) => `optional/local-embeddings/${name}`),
    'dist/web',
    'dist/parsers',
  ]
  for (const name of copied) cpSync(path.join(ROOT, name), path.join(output, name), { recursive: true })
  const { version, type } = packageSchema.parse(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')))
  const imports = { '#contract/*': './contract/*', '#server/*': './server/*', '#parsers/*': './dist/parsers/*.js' }
  writeFileSync(path.join(output, 'package.json'), JSON.stringify({ name: 'alcove', version, type, imports }, null, 2))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) compileServer(path.join(ROOT, 'dist', 'app'))
